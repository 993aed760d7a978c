"""Turns of conversations are passages of their own; the worker reads every text again while the index serves.

The reach of a key is asked by one plan.
"""

from __future__ import annotations

from migrations import functions

revision = "0018"
down_revision = "0017"

# Of a document with no chunked revision the worker writes all terms again, of an item with no indexed one as well.
# Vectors stay: they are kept by the text that they stand for.
AGAIN = """
SET LOCAL ROLE app_system;
UPDATE documents SET chunked_revision = 0, indexed_revision = 0 WHERE deleted_at IS NULL AND chunked_revision > 0;
UPDATE prompts SET indexed_revision = 0 WHERE deleted_at IS NULL;
UPDATE collections SET indexed_revision = 0 WHERE deleted_at IS NULL;
RESET ROLE;
"""


def upgrade() -> None:
    """Apply."""
    functions.run("ALTER TABLE chunks ADD COLUMN speaker text")
    functions.install("features/indexing")
    functions.install("features/collections")
    functions.run(AGAIN)


def downgrade() -> None:
    """Take back."""
    functions.run("ALTER TABLE chunks DROP COLUMN speaker")
    functions.run(AGAIN)
