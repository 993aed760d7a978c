"""Files are read by the worker: which of them wait, and for whom."""

from __future__ import annotations

from migrations import functions

revision = "0015"
down_revision = "0014"

COLUMNS = """
ALTER TABLE document_files
  ADD COLUMN state text NOT NULL DEFAULT 'read'
    CONSTRAINT document_files_state_check CHECK (state IN ('waiting', 'read', 'failed')),
  ADD COLUMN titled boolean NOT NULL DEFAULT true,
  ADD COLUMN starts int NOT NULL DEFAULT 0,
  ADD COLUMN claimed_until timestamptz,
  ADD COLUMN call jsonb;
CREATE INDEX document_files_waiting_idx ON document_files (workspace_id, created_at) WHERE state = 'waiting';
GRANT UPDATE ON document_files TO app_write, app_system;
"""


def upgrade() -> None:
    """Apply."""
    functions.run(COLUMNS)


def downgrade() -> None:
    """Take back."""
    functions.run("""
DROP INDEX document_files_waiting_idx;
ALTER TABLE document_files DROP COLUMN state, DROP COLUMN titled, DROP COLUMN starts, DROP COLUMN claimed_until,
  DROP COLUMN call;
""")
