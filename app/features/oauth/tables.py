"""Tables of OAuth: global, since the tenant is what a grant tells."""

from __future__ import annotations

from sqlalchemy import ARRAY, CheckConstraint, Column, DateTime, ForeignKey, Index, LargeBinary, Table, Text, Uuid, func
from sqlalchemy.dialects.postgresql import JSONB

from app.store.base import metadata


def _time(name: str) -> Column[object]:
    return Column(name, DateTime(timezone=True))


def _made_at() -> Column[object]:
    return Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp())


def _ends_at() -> Column[object]:
    return Column("expires_at", DateTime(timezone=True), nullable=False)


def _text(*names: str) -> list[Column[str]]:
    return [Column(name, Text, nullable=False) for name in names]


oauth_clients = Table(
    "oauth_clients",
    metadata,
    Column("client_id", Text, primary_key=True),
    Column("kind", Text, CheckConstraint("kind IN ('registered', 'document', 'static')", name="kind"), nullable=False),
    Column("secret_hash", LargeBinary),
    Column("metadata", JSONB, nullable=False),
    Column("registration_hash", LargeBinary),
    _made_at(),
    _time("last_used_at"),
    _time("expires_at"),
)

oauth_grants = Table(
    "oauth_grants",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("user_id", Uuid, ForeignKey("users.id"), nullable=False),
    Column("workspace_id", Uuid, ForeignKey("workspaces.id"), nullable=False),
    *_text("client_id", "client_name", "resource"),
    Column("scopes", ARRAY(Text), nullable=False),
    _made_at(),
    _time("last_used_at"),
    _time("revoked_at"),
    Index(None, "user_id"),
)

oauth_codes = Table(
    "oauth_codes",
    metadata,
    Column("code_hash", LargeBinary, primary_key=True),
    Column("grant_id", Uuid, ForeignKey("oauth_grants.id"), nullable=False),
    *_text("client_id", "redirect_uri", "code_challenge", "resource"),
    Column("scopes", ARRAY(Text), nullable=False),
    _made_at(),
    _ends_at(),
    _time("used_at"),
)

oauth_tokens = Table(
    "oauth_tokens",
    metadata,
    Column("token_hash", LargeBinary, primary_key=True),
    Column("kind", Text, CheckConstraint("kind IN ('access', 'refresh')", name="kind"), nullable=False),
    Column("grant_id", Uuid, ForeignKey("oauth_grants.id"), nullable=False),
    *_text("client_id", "resource"),
    Column("scopes", ARRAY(Text), nullable=False),
    _made_at(),
    _ends_at(),
    _time("used_at"),
    _time("revoked_at"),
    Index(None, "grant_id"),
    Index(None, "expires_at"),
)

oauth_device_codes = Table(
    "oauth_device_codes",
    metadata,
    Column("device_hash", LargeBinary, primary_key=True),
    Column("user_code", Text, nullable=False, unique=True),
    *_text("client_id", "client_name", "resource"),
    Column("scopes", ARRAY(Text), nullable=False),
    _made_at(),
    _ends_at(),
    _time("last_polled_at"),
    Column("grant_id", Uuid, ForeignKey("oauth_grants.id")),
    _time("denied_at"),
    _time("used_at"),
)

TABLES = [oauth_clients, oauth_grants, oauth_codes, oauth_tokens, oauth_device_codes]
