"""Tables of collections."""

from __future__ import annotations

from sqlalchemy import (
    ARRAY,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    Uuid,
    text,
)

from app.store.base import metadata

collections = Table(
    "collections",
    metadata,
    Column("workspace_id", Uuid, primary_key=True),
    Column("id", Uuid, primary_key=True),
    Column("name", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("color", Text),
    Column("icon", Text, nullable=False),
    Column("tags", ARRAY(Text), nullable=False),
    Column("content_hash", LargeBinary, nullable=False),
    Column("revision", Integer, nullable=False, server_default="1"),
    Column("created_by", Uuid, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("last_changed_at", DateTime(timezone=True), nullable=False),
    Column("deleted_at", DateTime(timezone=True)),
    Column("deleted_by", Uuid),
    Column("purged_at", DateTime(timezone=True)),
    Column("indexed_revision", Integer, nullable=False, server_default="0"),
    Index(
        "collections_unindexed_idx",
        "workspace_id",
        "last_changed_at",
        postgresql_where=text(
            "(deleted_at IS NULL AND indexed_revision < revision) OR (deleted_at IS NOT NULL AND indexed_revision > 0)"
        ),
    ),
    Index(
        "collections_workspace_id_created_at_id_idx",
        "workspace_id",
        text("created_at DESC"),
        text("id DESC"),
        postgresql_where=text("deleted_at IS NULL"),
    ),
    Index(
        "collections_workspace_id_last_changed_at_id_idx",
        "workspace_id",
        text("last_changed_at DESC"),
        text("id DESC"),
        postgresql_where=text("deleted_at IS NULL"),
    ),
)

collection_items = Table(
    "collection_items",
    metadata,
    Column("workspace_id", Uuid, primary_key=True),
    Column("collection_id", Uuid, primary_key=True),
    Column("item_type", Text, primary_key=True),
    Column("item_id", Uuid, primary_key=True),
    Column("added_by", Uuid, nullable=False),
    Column("added_at", DateTime(timezone=True), nullable=False),
    CheckConstraint("item_type IN ('document', 'prompt')", name="item_type"),
    ForeignKeyConstraint(
        ["workspace_id", "collection_id"],
        ["collections.workspace_id", "collections.id"],
        name="collection_items_collection_fkey",
    ),
    Index("collection_items_workspace_id_item_type_item_id_idx", "workspace_id", "item_type", "item_id"),
    Index(
        "collection_items_added_idx",
        "workspace_id",
        "collection_id",
        text("added_at DESC"),
        text("item_id DESC"),
    ),
)

TABLES = [collections, collection_items]
