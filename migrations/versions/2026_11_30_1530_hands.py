"""Who had a hand in a document or prompt: its creator alone, several members, or somebody outside."""

from __future__ import annotations

from migrations import functions

revision = "0022"
down_revision = "0021"

COLUMNS = "".join(
    f"""
ALTER TABLE {table} ADD COLUMN hands text NOT NULL DEFAULT 'one',
  ADD CONSTRAINT {table}_hands_check CHECK (hands IN ('one', 'several', 'outside'));
"""
    for table in ("documents", "prompts")
)

# Whether a prompt came in an archive only the audit trail knows.
BACKFILL = """
SET LOCAL ROLE app_system;
UPDATE documents d
   SET hands = CASE WHEN d.source_type <> 'text' OR h.imported THEN 'outside' ELSE 'several' END
  FROM (SELECT r.workspace_id, r.document_id, bool_or(r.action = 'import') AS imported,
               bool_or(r.author_id <> x.created_by) AS several
          FROM document_revisions r
          JOIN documents x ON x.workspace_id = r.workspace_id AND x.id = r.document_id
         GROUP BY r.workspace_id, r.document_id) AS h
 WHERE d.workspace_id = h.workspace_id AND d.id = h.document_id
   AND (d.source_type <> 'text' OR h.imported OR h.several);
UPDATE prompts p SET hands = 'several'
 WHERE EXISTS (SELECT FROM prompt_versions v
                WHERE v.workspace_id = p.workspace_id AND v.prompt_id = p.id AND v.author_id <> p.created_by)
    OR EXISTS (SELECT FROM audit a
                WHERE a.workspace_id = p.workspace_id AND a.object_id = p.id AND a.topic = 'prompt.changed'
                  AND a.user_id <> p.created_by);
UPDATE prompts p SET hands = 'outside'
  FROM audit a
 WHERE a.workspace_id = p.workspace_id AND a.object_id = p.id AND a.topic = 'prompt.imported';
RESET ROLE;
"""


def upgrade() -> None:
    """Apply."""
    functions.run(COLUMNS)
    functions.install("features/documents")
    functions.run(BACKFILL)


def downgrade() -> None:
    """Take back."""
    functions.run("ALTER TABLE documents DROP COLUMN hands; ALTER TABLE prompts DROP COLUMN hands")
