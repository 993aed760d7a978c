"""A heading with nothing below is a passage: documents that have such are cut again."""

from __future__ import annotations

from migrations import functions

revision = "0026"
down_revision = "0025"

AGAIN = """
SET LOCAL ROLE app_system;
UPDATE documents d SET chunked_revision = 0, indexed_revision = 0
 WHERE d.deleted_at IS NULL AND EXISTS (
       SELECT FROM chunks c
        WHERE c.workspace_id = d.workspace_id AND c.document_id = d.id AND c.level = 'section' AND c.word_count = 0);
RESET ROLE;
"""


def upgrade() -> None:
    """Apply."""
    functions.run(AGAIN)


def downgrade() -> None:
    """Keep the passages."""
