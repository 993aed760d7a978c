"""Tables of packs: manifests by their hash, and the documents that each names."""

from __future__ import annotations

from sqlalchemy import Column, DateTime, ForeignKeyConstraint, Index, LargeBinary, Table, Uuid
from sqlalchemy.dialects.postgresql import JSONB

from app.store.base import metadata

packs = Table(
    "packs",
    metadata,
    Column("workspace_id", Uuid, primary_key=True),
    Column("hash", LargeBinary, primary_key=True),
    Column("manifest", JSONB, nullable=False),
    Column("used_at", DateTime(timezone=True), nullable=False),
    Index(None, "workspace_id", "used_at"),
)

pack_documents = Table(
    "pack_documents",
    metadata,
    Column("workspace_id", Uuid, primary_key=True),
    Column("hash", LargeBinary, primary_key=True),
    Column("document_id", Uuid, primary_key=True),
    ForeignKeyConstraint(
        ["workspace_id", "hash"], ["packs.workspace_id", "packs.hash"], name="pack_documents_pack_fkey"
    ),
    ForeignKeyConstraint(
        ["workspace_id", "document_id"], ["documents.workspace_id", "documents.id"], name="pack_documents_document_fkey"
    ),
    Index(None, "workspace_id", "document_id"),
)

TABLES = [packs, pack_documents]
