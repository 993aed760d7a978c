"""Tables of uploads: which document came from which file."""

from __future__ import annotations

from sqlalchemy import (
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
from app.store.blobs import blobs

document_files = Table(
    "document_files",
    metadata,
    Column("workspace_id", Uuid, primary_key=True),
    Column("document_id", Uuid, primary_key=True),
    Column("digest", LargeBinary, nullable=False),
    Column("name", Text, nullable=False),
    Column("media_type", Text, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column(
        "state",
        Text,
        CheckConstraint("state IN ('waiting', 'read', 'failed')", name="state"),
        nullable=False,
        server_default="read",
    ),
    Column("titled", Boolean, nullable=False, server_default="true"),
    Column("starts", Integer, nullable=False, server_default="0"),
    Column("claimed_until", DateTime(timezone=True)),
    Column("call", JSONB),
    ForeignKeyConstraint(
        ["workspace_id", "document_id"], ["documents.workspace_id", "documents.id"], name="document_files_document_fkey"
    ),
    ForeignKeyConstraint(
        ["workspace_id", "digest"], ["blobs.workspace_id", "blobs.digest"], name="document_files_blob_fkey"
    ),
    Index(None, "workspace_id", "digest"),
    Index("document_files_waiting_idx", "workspace_id", "created_at", postgresql_where=text("state = 'waiting'")),
)

TABLES = [blobs, document_files]
