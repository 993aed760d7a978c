"""Table of the accounts that people have at external issuers."""

from __future__ import annotations

from sqlalchemy import Column, DateTime, ForeignKey, Index, Table, Text, UniqueConstraint, Uuid, func

from app.store.base import metadata

identities = Table(
    "identities",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("issuer", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("user_id", Uuid, ForeignKey("users.id"), nullable=False),
    Column("workspace_id", Uuid, ForeignKey("workspaces.id"), nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp()),
    UniqueConstraint("issuer", "subject"),
    UniqueConstraint("issuer", "user_id"),
    Index(None, "user_id"),
)

TABLES = [identities]
