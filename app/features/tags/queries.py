"""SQL of tags, over the view of all items."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import asyncpg

    from app.store.tx import Tx

_LIST = """
SELECT tag, sum(n)::int AS count, jsonb_object_agg(kind, n) AS kinds
  FROM (SELECT t.tag COLLATE "C" AS tag, x.kind, count(*) AS n
          FROM items x, unnest(x.tags) AS t(tag)
         WHERE x.workspace_id = $1 AND x.deleted_at IS NULL AND x.kind = ANY ($2)
           AND ($3::text IS NULL OR position(lower($3) IN lower(t.tag)) > 0)
           AND ($4::text IS NULL OR t.tag COLLATE "C" > $4)
         GROUP BY 1, 2) AS counted
 GROUP BY tag
 ORDER BY tag
 LIMIT $5
"""


async def list_tags(
    tx: Tx, kinds: Sequence[str], search: str | None, after: str | None, limit: int
) -> list[asyncpg.Record]:
    """List the tags of items that are not in the trash, after a tag."""
    return await tx.fetch(_LIST, tx.workspace_id, kinds, search, after, limit)
