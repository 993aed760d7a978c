"""Which model serves a workspace, and approximate indexes for workspaces with many vectors."""

from __future__ import annotations

from app.store.base import tenant_policies
from migrations import functions

revision = "0016"
down_revision = "0015"

DIMENSIONS = (256, 384, 512, 768, 1024, 1536)
SLOTS = (0, 1)

TABLE = """
CREATE TABLE vector_models (
  workspace_id uuid NOT NULL PRIMARY KEY,
  model text NOT NULL,
  dim smallint NOT NULL,
  slot smallint NOT NULL,
  changed_at timestamptz NOT NULL,
  both_slots boolean NOT NULL
);
GRANT SELECT ON vector_models TO app_write, app_read, app_system;
GRANT INSERT, UPDATE, DELETE ON vector_models TO app_write, app_system;
"""

KNOWN = """
SET LOCAL ROLE app_system;
INSERT INTO vector_models (workspace_id, model, dim, slot, changed_at, both_slots)
SELECT DISTINCT ON (workspace_id) workspace_id, model, dim, slot, clock_timestamp(), false FROM vectors
 ORDER BY workspace_id, model;
RESET ROLE;
"""


def upgrade() -> None:
    """Apply."""
    functions.run(TABLE)
    functions.run(tenant_policies("vector_models"))
    functions.run(KNOWN)
    functions.run("\n".join(_index(dim, slot) for dim in DIMENSIONS for slot in SLOTS))


def _index(dim: int, slot: int) -> str:
    return (
        f"CREATE INDEX vectors_near_{dim}_{slot}_idx ON vectors USING hnsw ((embedding::halfvec({dim})) "
        f"halfvec_cosine_ops) WHERE dim = {dim} AND slot = {slot};"
    )


def downgrade() -> None:
    """Take back."""
    functions.run("; ".join(f"DROP INDEX vectors_near_{dim}_{slot}_idx" for dim in DIMENSIONS for slot in SLOTS))
    functions.run("DROP TABLE vector_models")
