"""Tables of exports with their parts."""

from __future__ import annotations

from sqlalchemy import Column, DateTime, ForeignKeyConstraint, Index, Integer, LargeBinary, Table, Text, Uuid

from app.store.base import metadata
from app.store.blobs import blobs

# `seen` is the last item that a part holds, and `kind` whose turn it is; both empty at the beginning.
exports = Table(
    "exports",
    metadata,
    Column("workspace_id", Uuid, primary_key=True),
    Column("id", Uuid, primary_key=True),
    Column("state", Text, nullable=False),
    Column("watermark", DateTime(timezone=True), nullable=False),
    Column("kind", Text, nullable=False),
    Column("seen_at", DateTime(timezone=True)),
    Column("seen_id", Uuid),
    Column("items_done", Integer, nullable=False),
    Column("items_total", Integer, nullable=False),
    Column("parts", Integer, nullable=False),
    Column("created_by", Uuid, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("finished_at", DateTime(timezone=True)),
    Index(None, "workspace_id", "created_at"),
)

export_parts = Table(
    "export_parts",
    metadata,
    Column("workspace_id", Uuid, primary_key=True),
    Column("export_id", Uuid, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("digest", LargeBinary, nullable=False),
    ForeignKeyConstraint(
        ["workspace_id", "export_id"], ["exports.workspace_id", "exports.id"], name="export_parts_export_fkey"
    ),
    ForeignKeyConstraint(
        ["workspace_id", "digest"], ["blobs.workspace_id", "blobs.digest"], name="export_parts_blob_fkey"
    ),
    Index(None, "workspace_id", "digest"),
)

TABLES = [blobs, exports, export_parts]
