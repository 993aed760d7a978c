"""What the planner believes of tables: nothing, or wrongly that each value is rare, or that there are few."""

from __future__ import annotations

from typing import Final

BELIEFS: Final = {"nothing": None, "rare": -1.0, "few": 3.0}
"""By name, how many distinct values each column is said to have: as `pg_stats.n_distinct`."""

_COLUMNS: Final = """
SELECT c.relname AS name, a.attname AS column
  FROM pg_class c
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
   AND a.attstattarget IS DISTINCT FROM 0
 WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname ~ $1
"""
_FORGET: Final = "SELECT pg_clear_attribute_stats('public', $1, $2, false)"
_SAY: Final = """
SELECT pg_restore_attribute_stats(
         'schemaname', 'public', 'relname', $1::text, 'attname', $2::text, 'inherited', false, 'version', 180000::int,
         'null_frac', 0::real, 'avg_width', 16::int, 'n_distinct', $3::real)
"""


async def believe(sql, belief, tables):
    """Let the planner believe one of `BELIEFS` of all columns that ANALYZE samples; `tables` is a pattern."""
    columns = await sql.fetch(_COLUMNS, tables)
    assert columns
    for row in columns:
        await sql.execute(_FORGET, row["name"], row["column"])
        if BELIEFS[belief] is not None:
            await sql.execute(_SAY, row["name"], row["column"], BELIEFS[belief])
