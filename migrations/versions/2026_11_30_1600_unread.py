"""What a document was before its file was read is no version: its first text is version 1."""

from __future__ import annotations

from migrations import functions

revision = "0025"
down_revision = "0024"

RENUMBER = """
SET LOCAL ROLE app_system;
WITH unread AS MATERIALIZED (
  SELECT r.workspace_id, r.document_id
    FROM document_revisions r
    JOIN documents d ON d.workspace_id = r.workspace_id AND d.id = r.document_id AND d.source_type = 'file'
   WHERE r.revision = 1 AND r.version = {first} AND r.action = 'create' AND r.content_digest = sha256('')
), counted AS (
  UPDATE documents d SET current_version = d.current_version + {step}
    FROM unread u WHERE d.workspace_id = u.workspace_id AND d.id = u.document_id
)
UPDATE document_revisions r
   SET version = r.version + {step}, content_changed = CASE r.revision WHEN 1 THEN {begins} ELSE r.content_changed END
  FROM unread u WHERE r.workspace_id = u.workspace_id AND r.document_id = u.document_id;
RESET ROLE;
"""


def upgrade() -> None:
    """Apply."""
    functions.install("features/documents")
    functions.run(RENUMBER.format(first=1, step=-1, begins="false"))


def downgrade() -> None:
    """Take back."""
    functions.run(RENUMBER.format(first=0, step=1, begins="true"))
