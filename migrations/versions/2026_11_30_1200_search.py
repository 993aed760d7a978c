"""Search over all kinds: prompts and collections in the index, terms by language, literal search in a function."""

from __future__ import annotations

from app.store.base import tenant_policies
from migrations import functions

revision = "0008"
down_revision = "0007"

KINDS = ["prompts", "collections"]

TABLES = """
CREATE TABLE index_entries (
  workspace_id uuid NOT NULL,
  kind text NOT NULL,
  item_id uuid NOT NULL,
  text_digest bytea NOT NULL,
  PRIMARY KEY (workspace_id, kind, item_id)
);
CREATE INDEX index_entries_workspace_id_text_digest_idx ON index_entries (workspace_id, text_digest);
GRANT SELECT ON index_entries TO app_write, app_read, app_system;
GRANT INSERT, UPDATE, DELETE ON index_entries TO app_write, app_system;
"""

PENDING = """
ALTER TABLE {table} ADD COLUMN indexed_revision int NOT NULL DEFAULT 0;
CREATE INDEX {table}_unindexed_idx ON {table} (workspace_id, last_changed_at)
  WHERE (deleted_at IS NULL AND indexed_revision < revision) OR (deleted_at IS NOT NULL AND indexed_revision > 0);
"""

# What was indexed before has other terms: the worker reads every text again.
AGAIN = """
SET LOCAL ROLE app_system;
DELETE FROM postings;
DELETE FROM chunks;
DELETE FROM index_statistics;
UPDATE documents SET chunked_revision = 0, indexed_revision = 0 WHERE deleted_at IS NULL;
RESET ROLE;
"""


def upgrade() -> None:
    """Apply."""
    functions.run(TABLES)
    functions.run(tenant_policies("index_entries"))
    functions.run("".join(PENDING.format(table=table) for table in KINDS))
    functions.install("features/indexing")
    functions.install("features/search")
    functions.run(AGAIN)


def downgrade() -> None:
    """Take back."""
    functions.drop("features/search")
    functions.drop("features/indexing")
    for table in KINDS:
        functions.run(f"DROP INDEX {table}_unindexed_idx; ALTER TABLE {table} DROP COLUMN indexed_revision")
    functions.run("DROP TABLE index_entries")
