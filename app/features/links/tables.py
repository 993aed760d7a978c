"""Tables of public links: the links of a workspace, and the global table that tells whose a token is."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    Table,
    Text,
    Uuid,
    text,
)

from app.store.base import metadata

links = Table(
    "links",
    metadata,
    Column("workspace_id", Uuid, primary_key=True),
    Column("id", Uuid, primary_key=True),
    Column("item_type", Text, CheckConstraint("item_type IN ('document', 'prompt')", name="item_type"), nullable=False),
    Column("item_id", Uuid, nullable=False),
    Column("password_hash", Text),
    Column("created_by", Uuid, nullable=False),
    Column("created_by_name", Text, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("expires_at", DateTime(timezone=True)),
    Column("ended_at", DateTime(timezone=True)),
    Column("views", BigInteger, nullable=False, server_default=text("0")),
    Column("copies", BigInteger, nullable=False, server_default=text("0")),
    Column("last_viewed_at", DateTime(timezone=True)),
    Index(
        "links_workspace_id_item_type_item_id_key",
        "workspace_id",
        "item_type",
        "item_id",
        unique=True,
        postgresql_where=text("ended_at IS NULL"),
    ),
)

link_tokens = Table(
    "link_tokens",
    metadata,
    Column("token_hash", LargeBinary, primary_key=True),
    Column("workspace_id", Uuid, nullable=False),
    Column("link_id", Uuid, nullable=False, unique=True),
    ForeignKeyConstraint(["workspace_id", "link_id"], ["links.workspace_id", "links.id"], name="link_tokens_link_fkey"),
)

TABLES = [links, link_tokens]
