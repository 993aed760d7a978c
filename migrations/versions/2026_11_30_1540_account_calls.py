"""The calls behind the trail of accounts: operation, grant, client and request; unknown of lines before."""

from __future__ import annotations

from migrations import functions

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    """Apply."""
    functions.run(
        "ALTER TABLE account_audit ADD COLUMN grant_id uuid, ADD COLUMN agent text, ADD COLUMN operation text, "
        "ADD COLUMN request_id text"
    )


def downgrade() -> None:
    """Take back."""
    functions.run(
        "ALTER TABLE account_audit DROP COLUMN grant_id, DROP COLUMN agent, DROP COLUMN operation, "
        "DROP COLUMN request_id"
    )
