"""Tables of uploads: which document came from which file."""

from __future__ import annotations

from sqlalchemy import Column, DateTime, ForeignKeyConstraint, Index, LargeBinary, Table, Text, Uuid

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
    ForeignKeyConstraint(
        ["workspace_id", "document_id"], ["documents.workspace_id", "documents.id"], name="document_files_document_fkey"
    ),
    ForeignKeyConstraint(
        ["workspace_id", "digest"], ["blobs.workspace_id", "blobs.digest"], name="document_files_blob_fkey"
    ),
    Index(None, "workspace_id", "digest"),
)

TABLES = [blobs, document_files]
