"""The outbox: mails in the transaction that causes them."""

from __future__ import annotations

from sqlalchemy import Column, DateTime, Integer, Table, Text, Uuid, func, text

from app.store.base import metadata

mail_outbox = Table(
    "mail_outbox",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("recipient", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp()),
    Column("sent_at", DateTime(timezone=True)),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("next_at", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp()),
    Column("error", Text),
)

TABLES = [mail_outbox]
