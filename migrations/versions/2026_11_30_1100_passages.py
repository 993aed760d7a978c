"""Passages: children of a chunk by index, and what retired chunks were."""

from __future__ import annotations

from app.store.base import member_policy, tenant_policies
from migrations import functions

revision = "0007"
down_revision = "0006"

TABLES = f"""
CREATE INDEX chunks_workspace_id_parent_id_level_ordinal_idx ON chunks (workspace_id, parent_id, level, ordinal);

CREATE TABLE retired_chunks (
  workspace_id uuid NOT NULL,
  id uuid NOT NULL,
  document_id uuid NOT NULL,
  revision int NOT NULL,
  level text NOT NULL,
  ordinal int NOT NULL,
  section_path text[] NOT NULL,
  start_index int NOT NULL,
  end_index int NOT NULL,
  retired_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX retired_chunks_workspace_id_document_id_retired_at_idx
  ON retired_chunks (workspace_id, document_id, retired_at);
{tenant_policies("retired_chunks")}{member_policy("retired_chunks", "document", "document_id")}
GRANT SELECT ON retired_chunks TO app_write, app_read, app_system;
GRANT INSERT, UPDATE, DELETE ON retired_chunks TO app_write, app_system;
"""


def upgrade() -> None:
    """Apply."""
    functions.run(TABLES)


def downgrade() -> None:
    """Take back."""
    functions.run("DROP TABLE retired_chunks; DROP INDEX chunks_workspace_id_parent_id_level_ordinal_idx")
