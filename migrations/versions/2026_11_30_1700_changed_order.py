"""Lists in the order of the last change have an index each."""

from __future__ import annotations

from migrations import functions

revision = "0028"
down_revision = "0027"

TABLES = ("documents", "prompts", "collections")


def upgrade() -> None:
    """Apply."""
    for table in TABLES:
        functions.run(
            f"CREATE INDEX {_name(table)} ON {table} (workspace_id, last_changed_at DESC, id DESC)"
            " WHERE deleted_at IS NULL"
        )


def downgrade() -> None:
    """Take back."""
    for table in TABLES:
        functions.run(f"DROP INDEX {_name(table)}")


def _name(table: str) -> str:
    return f"{table}_workspace_id_last_changed_at_id_idx"
