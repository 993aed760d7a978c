"""Tables of the gate: receipts, the event log, the audit trail."""

from __future__ import annotations

from sqlalchemy import ARRAY, Column, DateTime, Index, Integer, LargeBinary, Table, Text, Uuid, func
from sqlalchemy.types import UserDefinedType

from app.store.base import metadata


class Xid8(UserDefinedType[int]):
    """The 64-bit id of a transaction."""

    cache_ok = True

    def get_col_spec(self, **_: object) -> str:
        """Name the type in SQL."""
        return "xid8"


def _made_at() -> Column[object]:
    return Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp())


receipts = Table(
    "receipts",
    metadata,
    Column("workspace_id", Uuid, primary_key=True),
    Column("user_id", Uuid, primary_key=True),
    Column("grant_id", Uuid, primary_key=True),
    Column("key_digest", LargeBinary, primary_key=True),
    Column("fingerprint", LargeBinary, nullable=False),
    Column("body", LargeBinary),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("object_ids", ARRAY(Uuid), nullable=False, server_default="{}"),
    Index(None, "created_at"),
)

event_epochs = Table(
    "event_epochs",
    metadata,
    Column("epoch", Integer, primary_key=True, autoincrement=False),
    Column("began_at", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp()),
)

events = Table(
    "events",
    metadata,
    Column("workspace_id", Uuid, primary_key=True),
    Column("epoch", Integer, primary_key=True, autoincrement=False),
    Column("xid", Xid8, primary_key=True),
    Column("id", Uuid, primary_key=True),
    Column("topic", Text, nullable=False),
    Column("object_id", Uuid, nullable=False),
    Column("revision", Integer),
    _made_at(),
)

audit = Table(
    "audit",
    metadata,
    Column("workspace_id", Uuid, primary_key=True),
    Column("id", Uuid, primary_key=True),
    Column("user_id", Uuid, nullable=False),
    Column("grant_id", Uuid, nullable=False),
    Column("agent", Text),
    Column("operation", Text, nullable=False),
    Column("topic", Text, nullable=False),
    Column("object_id", Uuid, nullable=False),
    Column("revision", Integer),
    Column("request_id", Text, nullable=False),
    _made_at(),
    Index(None, "workspace_id", "created_at"),
)

TABLES = [receipts, event_epochs, events, audit]
