"""The trail of accounts by workspace."""

from __future__ import annotations

from migrations import functions

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Apply."""
    functions.run("CREATE INDEX account_audit_workspace_id_created_at_idx ON account_audit (workspace_id, created_at)")


def downgrade() -> None:
    """Take back."""
    functions.run("DROP INDEX account_audit_workspace_id_created_at_idx")
