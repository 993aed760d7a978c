"""Browser sessions, and links for one use; both are kept as digests of their secrets."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, DateTime, ForeignKey, Index, LargeBinary, Table, Text, Uuid, func

from app.store.base import metadata


def _time(name: str, *, now: bool = False, required: bool = True) -> Column[object]:
    default = func.clock_timestamp() if now else None
    return Column(name, DateTime(timezone=True), nullable=not required, server_default=default)


browser_sessions = Table(
    "browser_sessions",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("token_hash", LargeBinary, nullable=False, unique=True),
    Column("user_id", Uuid, ForeignKey("users.id"), nullable=False),
    Column("workspace_id", Uuid, ForeignKey("workspaces.id"), nullable=False),
    Column("address", Text),
    Column("user_agent", Text),
    _time("created_at", now=True),
    _time("last_seen_at", now=True),
    _time("expires_at"),
    _time("revoked_at", required=False),
    Index(None, "user_id"),
)

_PURPOSES = "purpose IN ('sign_in', 'password_reset', 'sign_up', 'invite')"

one_time_links = Table(
    "one_time_links",
    metadata,
    Column("token_hash", LargeBinary, primary_key=True),
    Column("id", Uuid, nullable=False, unique=True, server_default=func.gen_random_uuid()),
    Column("purpose", Text, CheckConstraint(_PURPOSES, name="purpose"), nullable=False),
    Column("user_id", Uuid, ForeignKey("users.id")),
    Column("email", Text),
    Column("workspace_id", Uuid, ForeignKey("workspaces.id")),
    Column("role", Text, CheckConstraint("role IN ('owner', 'member', 'viewer')", name="role")),
    Column("created_by", Uuid, ForeignKey("users.id")),
    _time("created_at", now=True),
    _time("expires_at"),
    _time("used_at", required=False),
    Index(None, "workspace_id"),
)

TABLES = [browser_sessions, one_time_links]
