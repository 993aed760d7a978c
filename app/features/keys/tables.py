"""The table of credentials: global, since the tenant is what a credential tells."""

from __future__ import annotations

from sqlalchemy import ARRAY, Column, DateTime, ForeignKey, Index, LargeBinary, Table, Text, Uuid, func

from app.store.base import metadata

credentials = Table(
    "credentials",
    metadata,
    Column("public_id", Text, primary_key=True),
    Column("secret_hash", LargeBinary, nullable=False),
    Column("grant_id", Uuid, nullable=False),
    Column("workspace_id", Uuid, ForeignKey("workspaces.id"), nullable=False),
    Column("user_id", Uuid, ForeignKey("users.id"), nullable=False),
    Column("name", Text, nullable=False),
    Column("scopes", ARRAY(Text), nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp()),
    Column("expires_at", DateTime(timezone=True)),
    Column("revoked_at", DateTime(timezone=True)),
    Column("last_used_at", DateTime(timezone=True)),
    Column("id", Uuid, nullable=False, unique=True, server_default=func.gen_random_uuid()),
    Column("last_used_by", Text),
    Column("replaced_at", DateTime(timezone=True)),
    Column("collection_ids", ARRAY(Uuid)),
    Index(None, "workspace_id", "user_id"),
)

TABLES = [credentials]
