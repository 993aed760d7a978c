"""Tables of clients, grants, codes and tokens; secrets are kept as digests."""

from __future__ import annotations

from sqlalchemy import ARRAY, CheckConstraint, Column, DateTime, ForeignKey, Index, LargeBinary, Table, Text, Uuid, func
from sqlalchemy.dialects.postgresql import JSONB

from app.store.base import metadata


def _made() -> Column[object]:
    return Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp())


def _time(name: str, *, required: bool = False) -> Column[object]:
    return Column(name, DateTime(timezone=True), nullable=not required)


def _grant(*, required: bool = True) -> Column[object]:
    return Column("grant_id", Uuid, ForeignKey("oauth_grants.id"), nullable=not required)


def _scopes() -> Column[object]:
    return Column("scopes", ARRAY(Text), nullable=False)


oauth_clients = Table(
    "oauth_clients",
    metadata,
    Column("client_id", Text, primary_key=True),
    Column("kind", Text, CheckConstraint("kind IN ('registered', 'document', 'static')", name="kind"), nullable=False),
    Column("secret_hash", LargeBinary),
    Column("metadata", JSONB, nullable=False),
    Column("registration_hash", LargeBinary),
    _made(),
    _time("last_used_at"),
    _time("expires_at"),
)

oauth_grants = Table(
    "oauth_grants",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("user_id", Uuid, ForeignKey("users.id"), nullable=False),
    Column("workspace_id", Uuid, ForeignKey("workspaces.id"), nullable=False),
    Column("client_id", Text, nullable=False),
    Column("client_name", Text, nullable=False),
    Column("resource", Text, nullable=False),
    Column("answers_to", Text, nullable=False, server_default=""),
    _scopes(),
    _made(),
    _time("last_used_at"),
    _time("revoked_at"),
    Index(None, "user_id"),
    Index(None, "client_id"),
)

oauth_codes = Table(
    "oauth_codes",
    metadata,
    Column("code_hash", LargeBinary, primary_key=True),
    _grant(),
    Column("family_id", Uuid, nullable=False),
    Column("client_id", Text, nullable=False),
    Column("redirect_uri", Text, nullable=False),
    Column("code_challenge", Text, nullable=False),
    Column("resource", Text, nullable=False),
    _scopes(),
    _made(),
    _time("expires_at", required=True),
    _time("used_at"),
    Index(None, "grant_id"),
)

oauth_tokens = Table(
    "oauth_tokens",
    metadata,
    Column("token_hash", LargeBinary, primary_key=True),
    Column("kind", Text, CheckConstraint("kind IN ('access', 'refresh')", name="kind"), nullable=False),
    _grant(),
    Column("family_id", Uuid, nullable=False),
    Column("client_id", Text, nullable=False),
    Column("resource", Text, nullable=False),
    _scopes(),
    _made(),
    _time("expires_at", required=True),
    _time("used_at"),
    _time("revoked_at"),
    Index(None, "grant_id"),
    Index(None, "family_id"),
    Index(None, "expires_at"),
)

oauth_device_codes = Table(
    "oauth_device_codes",
    metadata,
    Column("device_hash", LargeBinary, primary_key=True),
    Column("user_code", Text, nullable=False, unique=True),
    Column("client_id", Text, nullable=False),
    Column("client_name", Text, nullable=False),
    Column("resource", Text, nullable=False),
    _scopes(),
    _made(),
    _time("expires_at", required=True),
    _time("last_polled_at"),
    _grant(required=False),
    _time("denied_at"),
    _time("used_at"),
)

TABLES = [oauth_clients, oauth_grants, oauth_codes, oauth_tokens, oauth_device_codes]
