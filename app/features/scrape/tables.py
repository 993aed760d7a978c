"""Tables of pages: where a document came from, and how to ask whether that changed."""

from __future__ import annotations

from sqlalchemy import Column, DateTime, ForeignKeyConstraint, LargeBinary, Table, Text, Uuid

from app.store.base import metadata

document_sources = Table(
    "document_sources",
    metadata,
    Column("workspace_id", Uuid, primary_key=True),
    Column("document_id", Uuid, primary_key=True),
    Column("url", Text, nullable=False),
    Column("etag", Text),
    Column("last_modified", Text),
    Column("language", Text),
    Column("content_digest", LargeBinary, nullable=False),
    Column("fetched_at", DateTime(timezone=True), nullable=False),
    ForeignKeyConstraint(
        ["workspace_id", "document_id"],
        ["documents.workspace_id", "documents.id"],
        name="document_sources_document_fkey",
    ),
)

TABLES = [document_sources]
