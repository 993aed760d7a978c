"""Approximate indexes look at more neighbours of a new vector: what comes late is linked as well as what came first."""

from __future__ import annotations

from migrations import functions

revision = "0027"
down_revision = "0026"

# Of the partitions' indexes, since the partitioned ones have no parameters of their own. What is in them already keeps
# its links until a REINDEX.
PARAMETERS = """
DO $$
DECLARE known regclass;
BEGIN
  FOR known IN SELECT c.oid FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE a.amname = 'hnsw' AND c.relkind = 'i'
  LOOP
    EXECUTE format('ALTER INDEX %s {change}', known);
  END LOOP;
END $$;
"""


def upgrade() -> None:
    """Apply."""
    functions.run(PARAMETERS.format(change="SET (ef_construction = 200)"))


def downgrade() -> None:
    """Take back."""
    functions.run(PARAMETERS.format(change="RESET (ef_construction)"))
