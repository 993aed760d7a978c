"""Tables of prompts: current state, every revision of it, every version of the text, and labels of versions."""

from __future__ import annotations

from sqlalchemy import (
    ARRAY,
    JSON,
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

from app.store.base import metadata

# `variables` is NULL as long as they are taken from the text. `published_at` is set while a public link is live: reads
# show it as isPublic, so whoever sets it moves the revision too. The JSON is kept byte for byte, since it is hashed.
# `views` and `copies` are derived: what the marks of its public links came to, no part of a revision. `hands` is as
# documents have it.
prompts = Table(
    "prompts",
    metadata,
    Column("workspace_id", Uuid, primary_key=True),
    Column("id", Uuid, primary_key=True),
    Column("title", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("tags", ARRAY(Text), nullable=False),
    Column("variables", JSON),
    Column("parameters", JSON, nullable=False),
    Column("archived", Boolean, nullable=False, server_default=text("false")),
    Column("content_hash", LargeBinary, nullable=False),
    Column("revision", Integer, nullable=False, server_default="1"),
    Column("current_version", Integer, nullable=False, server_default="1"),
    Column("published_at", DateTime(timezone=True)),
    Column("hands", Text, nullable=False, server_default="one"),
    Column("created_by", Uuid, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("last_changed_at", DateTime(timezone=True), nullable=False),
    Column("deleted_at", DateTime(timezone=True)),
    Column("deleted_by", Uuid),
    Column("purged_at", DateTime(timezone=True)),
    Column("indexed_revision", Integer, nullable=False, server_default="0"),
    Column("views", BigInteger, nullable=False, server_default="0"),
    Column("copies", BigInteger, nullable=False, server_default="0"),
    CheckConstraint("hands IN ('one', 'several', 'outside')", name="hands"),
    Index(
        "prompts_unindexed_idx",
        "workspace_id",
        "last_changed_at",
        postgresql_where=text(
            "(deleted_at IS NULL AND indexed_revision < revision) OR (deleted_at IS NOT NULL AND indexed_revision > 0)"
        ),
    ),
    Index(
        "prompts_workspace_id_created_at_id_idx",
        "workspace_id",
        text("created_at DESC"),
        text("id DESC"),
        postgresql_where=text("deleted_at IS NULL"),
    ),
    Index(
        "prompts_workspace_id_last_changed_at_id_idx",
        "workspace_id",
        text("last_changed_at DESC"),
        text("id DESC"),
        postgresql_where=text("deleted_at IS NULL"),
    ),
)

prompt_versions = Table(
    "prompt_versions",
    metadata,
    Column("workspace_id", Uuid, primary_key=True),
    Column("prompt_id", Uuid, primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("id", Uuid, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("content", Text, nullable=False),
    Column("names", ARRAY(Text), nullable=False),
    Column("change_log", Text),
    Column("author_id", Uuid, nullable=False),
    Column("author_name", Text, nullable=False),
    Column("grant_id", Uuid, nullable=False),
    Column("agent", Text),
    Column("decided_at", DateTime(timezone=True), nullable=False),
    ForeignKeyConstraint(
        ["workspace_id", "prompt_id"], ["prompts.workspace_id", "prompts.id"], name="prompt_versions_prompt_fkey"
    ),
    Index("prompt_versions_workspace_id_id_key", "workspace_id", "id", unique=True),
)

# What each revision said beside its text, which is that of its version.
prompt_revisions = Table(
    "prompt_revisions",
    metadata,
    Column("workspace_id", Uuid, primary_key=True),
    Column("prompt_id", Uuid, primary_key=True),
    Column("revision", Integer, primary_key=True, autoincrement=False),
    Column("version", Integer, nullable=False),
    Column("title", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("tags", ARRAY(Text), nullable=False),
    Column("variables", JSON),
    Column("parameters", JSON, nullable=False),
    Column("archived", Boolean, nullable=False),
    Column("published", Boolean, nullable=False),
    Column("content_hash", LargeBinary, nullable=False),
    Column("decided_at", DateTime(timezone=True), nullable=False),
    ForeignKeyConstraint(
        ["workspace_id", "prompt_id"], ["prompts.workspace_id", "prompts.id"], name="prompt_revisions_prompt_fkey"
    ),
)

prompt_labels = Table(
    "prompt_labels",
    metadata,
    Column("workspace_id", Uuid, primary_key=True),
    Column("prompt_id", Uuid, primary_key=True),
    Column("label", Text, primary_key=True),
    Column("version", Integer, nullable=False),
    Column("moved_by_name", Text, nullable=False),
    Column("moved_at", DateTime(timezone=True), nullable=False),
    ForeignKeyConstraint(
        ["workspace_id", "prompt_id", "version"],
        ["prompt_versions.workspace_id", "prompt_versions.prompt_id", "prompt_versions.version"],
        name="prompt_labels_version_fkey",
    ),
)

TABLES = [prompts, prompt_versions, prompt_revisions, prompt_labels]
