"""Which origin a consent was given for."""

from __future__ import annotations

from migrations import functions

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Apply: an earlier consent counts for no place, so that it is asked for again."""
    functions.run("ALTER TABLE oauth_grants ADD COLUMN answers_to text NOT NULL DEFAULT ''")


def downgrade() -> None:
    """Take back."""
    functions.run("ALTER TABLE oauth_grants DROP COLUMN answers_to")
