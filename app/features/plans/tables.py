"""Table of what a workspace used of its monthly allowances."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Date, Table, Text, Uuid

from app.store.base import metadata

usage_counters = Table(
    "usage_counters",
    metadata,
    Column("workspace_id", Uuid, primary_key=True),
    Column("meter", Text, primary_key=True),
    Column("month", Date, primary_key=True),
    Column("used", BigInteger, nullable=False),
)

TABLES = [usage_counters]
