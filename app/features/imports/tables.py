"""Tables of imports, with what was sent so far."""

from __future__ import annotations

from sqlalchemy import Column, DateTime, ForeignKeyConstraint, Integer, LargeBinary, Table, Text, Uuid
from sqlalchemy.dialects.postgresql import JSONB

from app.store.base import metadata

imports = Table(
    "imports",
    metadata,
    Column("workspace_id", Uuid, primary_key=True),
    Column("id", Uuid, primary_key=True),
    Column("created_by", Uuid, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("finished_at", DateTime(timezone=True)),
)

import_chunks = Table(
    "import_chunks",
    metadata,
    Column("workspace_id", Uuid, primary_key=True),
    Column("import_id", Uuid, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("digest", LargeBinary, nullable=False),
    Column("counts", JSONB, nullable=False),
    ForeignKeyConstraint(
        ["workspace_id", "import_id"], ["imports.workspace_id", "imports.id"], name="import_chunks_import_fkey"
    ),
)

# Texts that came before the item that holds them.
import_texts = Table(
    "import_texts",
    metadata,
    Column("workspace_id", Uuid, primary_key=True),
    Column("import_id", Uuid, primary_key=True),
    Column("digest", LargeBinary, primary_key=True),
    Column("content", Text, nullable=False),
    ForeignKeyConstraint(
        ["workspace_id", "import_id"], ["imports.workspace_id", "imports.id"], name="import_texts_import_fkey"
    ),
)

TABLES = [imports, import_chunks, import_texts]
