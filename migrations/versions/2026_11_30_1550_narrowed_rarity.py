"""How rare a word is counts, for a key that is narrowed to collections, among what it may see."""

from __future__ import annotations

from migrations import functions

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    """Replace the functions of the index."""
    functions.install("features/indexing")


def downgrade() -> None:
    """Keep them: they are replaced whenever they change."""
