"""The planner no longer takes a workspace for one row: the column of the tenant is not sampled."""

from __future__ import annotations

from migrations import functions

revision = "0020"
down_revision = "0019"

# What was sampled before is forgotten; before Postgres 18 only a superuser could, and it stays.
TENANTS = """
DO $$
DECLARE
  v_table text;
BEGIN
  FOR v_table IN
    SELECT p.tablename FROM pg_policies p
      JOIN pg_attribute a ON a.attrelid = format('%I.%I', p.schemaname, p.tablename)::regclass
     WHERE p.schemaname = current_schema AND p.policyname = 'tenant' AND a.attname = 'workspace_id'
       AND p.tablename !~ '^(vectors|postings)(_p|$)'  -- as the first migration has it
  LOOP
    EXECUTE format('ALTER TABLE %I ALTER COLUMN workspace_id SET STATISTICS {target}', v_table);
    IF to_regprocedure('pg_clear_attribute_stats(text, text, text, boolean)') IS NOT NULL THEN
      PERFORM pg_clear_attribute_stats(current_schema::text, v_table, 'workspace_id', inherited)
         FROM (VALUES (false), (true)) AS kinds(inherited);
    END IF;
  END LOOP;
END $$;
"""


def upgrade() -> None:
    """Leave the tenants' columns out of ANALYZE."""
    functions.run(TENANTS.format(target=0))


def downgrade() -> None:
    """Sample the tenants' columns again."""
    functions.run(TENANTS.format(target=-1))
