"""Tables of documents: current state, tags, contents by digest, and every revision."""

from __future__ import annotations

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
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
from sqlalchemy.dialects.postgresql import JSONB

from app.store.base import metadata

contents = Table(
    "contents",
    metadata,
    Column("workspace_id", Uuid, primary_key=True),
    Column("digest", LargeBinary, primary_key=True),
    Column("content", Text, nullable=False),
)

# `hands`: who ever wrote in it: its creator alone (`one`), `several` members, or somebody `outside` (a page, a file, an
# archive). It only grows.
documents = Table(
    "documents",
    metadata,
    Column("workspace_id", Uuid, primary_key=True),
    Column("id", Uuid, primary_key=True),
    Column("kind", Text, nullable=False, server_default="plain"),
    Column("project_id", Uuid),
    Column("slug", Text),
    Column("title", Text, nullable=False),
    Column("tags", ARRAY(Text), nullable=False),
    Column("frontmatter", JSONB),
    Column("title_digest", LargeBinary, nullable=False),
    Column("content_digest", LargeBinary, nullable=False),
    Column("tags_digest", LargeBinary, nullable=False),
    Column("frontmatter_digest", LargeBinary),
    Column("content_hash", LargeBinary, nullable=False),
    Column("page_sha", LargeBinary),
    Column("revision", Integer, nullable=False, server_default="1"),
    Column("current_version", Integer, nullable=False, server_default="1"),
    Column("policy", Text, nullable=False, server_default="standard"),
    Column("fence", BigInteger, nullable=False, server_default="0"),
    Column("lease_digest", LargeBinary),
    Column("lease_grant", Uuid),
    Column("lease_seconds", Integer),
    Column("lease_granted_at", DateTime(timezone=True)),
    Column("lease_expires_at", DateTime(timezone=True)),
    Column("lease_released_at", DateTime(timezone=True)),
    Column("language", Text),
    Column("source_type", Text, nullable=False, server_default="text"),
    Column("source_url", Text),
    Column("status", Text, nullable=False, server_default="pending"),
    Column("status_reason", Text),
    Column("indexed_revision", Integer, nullable=False, server_default="0"),
    Column("chunked_revision", Integer, nullable=False, server_default="0"),
    Column("index_attempts", Integer, nullable=False, server_default="0"),
    Column("index_claimed_until", DateTime(timezone=True)),
    Column("hands", Text, nullable=False, server_default="one"),
    Column("created_by", Uuid, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("last_changed_at", DateTime(timezone=True), nullable=False),
    Column("deleted_at", DateTime(timezone=True)),
    Column("deleted_by", Uuid),
    Column("purged_at", DateTime(timezone=True)),
    CheckConstraint("status IN ('pending', 'processing', 'ready', 'failed')", name="status"),
    CheckConstraint("hands IN ('one', 'several', 'outside')", name="hands"),
    ForeignKeyConstraint(
        ["workspace_id", "content_digest"], ["contents.workspace_id", "contents.digest"], name="documents_content_fkey"
    ),
    Index(
        "documents_workspace_id_created_at_id_idx",
        "workspace_id",
        text("created_at DESC"),
        text("id DESC"),
        postgresql_where=text("deleted_at IS NULL"),
    ),
    Index(
        "documents_workspace_id_last_changed_at_id_idx",
        "workspace_id",
        text("last_changed_at DESC"),
        text("id DESC"),
        postgresql_where=text("deleted_at IS NULL"),
    ),
    Index(
        "documents_workspace_id_deleted_at_id_idx",
        "workspace_id",
        text("deleted_at DESC"),
        text("id DESC"),
        postgresql_where=text("deleted_at IS NOT NULL AND purged_at IS NULL"),
    ),
    Index(
        "documents_unindexed_idx",
        "workspace_id",
        "last_changed_at",
        postgresql_where=text(
            "(deleted_at IS NULL AND indexed_revision < revision) OR (deleted_at IS NOT NULL AND chunked_revision > 0)"
        ),
    ),
    Index(None, "workspace_id", "content_digest"),
    Index(
        "documents_workspace_id_project_id_slug_key",
        "workspace_id",
        "project_id",
        "slug",
        unique=True,
        postgresql_where=text("deleted_at IS NULL AND slug IS NOT NULL"),
    ),
)

document_tags = Table(
    "document_tags",
    metadata,
    Column("workspace_id", Uuid, primary_key=True),
    Column("tag", Text, primary_key=True),
    Column("document_id", Uuid, primary_key=True),
    ForeignKeyConstraint(
        ["workspace_id", "document_id"], ["documents.workspace_id", "documents.id"], name="document_tags_document_fkey"
    ),
    Index(None, "workspace_id", "document_id"),
)

document_revisions = Table(
    "document_revisions",
    metadata,
    Column("workspace_id", Uuid, primary_key=True),
    Column("document_id", Uuid, primary_key=True),
    Column("revision", Integer, primary_key=True, autoincrement=False),
    Column("id", Uuid, nullable=False),
    Column("version", Integer, nullable=False),
    Column("content_changed", Boolean, nullable=False),
    Column("title", Text),
    Column("tags", ARRAY(Text)),
    Column("frontmatter", JSONB),
    Column("content_digest", LargeBinary),
    Column("content_hash", LargeBinary, nullable=False),
    Column("action", Text, nullable=False),
    Column("change_log", Text),
    Column("author_id", Uuid, nullable=False),
    Column("author_name", Text, nullable=False),
    Column("grant_id", Uuid, nullable=False),
    Column("agent", Text),
    Column("decided_at", DateTime(timezone=True), nullable=False),
    ForeignKeyConstraint(
        ["workspace_id", "document_id"],
        ["documents.workspace_id", "documents.id"],
        name="document_revisions_document_fkey",
    ),
    ForeignKeyConstraint(
        ["workspace_id", "content_digest"],
        ["contents.workspace_id", "contents.digest"],
        name="document_revisions_content_fkey",
    ),
    Index("document_revisions_workspace_id_id_key", "workspace_id", "id", unique=True),
    Index(None, "workspace_id", "content_digest"),
)

TABLES = [contents, documents, document_tags, document_revisions]
