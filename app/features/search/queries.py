"""SQL of search. Every statement filters by workspace, tags and trash.

A search is two statements: the first ranks and counts, of every kind that was asked for (`ranking`); the second
describes what was kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.features.search.ranking.queries import FINDABLE, counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    import asyncpg

    from app.store.tx import Tx

_DESCRIBE: Final = {
    "document": """
SELECT 'document' AS kind, d.id, d.title, '' AS description, d.status, d.content_digest, c.id AS chunk_id,
       c.content AS highlight, NULL::uuid AS member, text_trust(d.hands, d.created_by, $4) AS trust,
       c.section_path
  FROM unnest($2::uuid[], $3::uuid[]) AS hit(id, passage)
  JOIN documents d ON d.workspace_id = $1 AND d.id = hit.id
  LEFT JOIN LATERAL (
       SELECT id, content, section_path FROM chunks WHERE workspace_id = $1 AND id = hit.passage OFFSET 0) AS c ON true
""",
    "prompt": """
SELECT 'prompt', id, title, description, '', NULL, NULL, NULL, NULL, text_trust(hands, created_by, $4), NULL
  FROM prompts WHERE workspace_id = $1 AND id = ANY($2)
""",
    "collection": """
SELECT 'collection', id, name, description, '', NULL, NULL, NULL, NULL, text_trust('one', created_by, $4), NULL
  FROM collections WHERE workspace_id = $1 AND id = ANY($2)
""",
}
_DESCRIPTION: Final = " UNION ALL ".join(_DESCRIBE.values())

# The collections that hold what was found: a row for each such member.
_MEMBERSHIP: Final = "membership"
_MEMBERSHIPS: Final = f"""
SELECT '{_MEMBERSHIP}' AS kind, c.id, c.name AS title, c.description, '' AS status, NULL::bytea AS content_digest,
       NULL::uuid AS chunk_id, NULL::text AS highlight, i.item_id AS member,
       text_trust('one', c.created_by, $4) AS trust, NULL::text[] AS section_path
  FROM collection_items i
 CROSS JOIN LATERAL (
       SELECT id, name, description, created_by FROM collections
        WHERE workspace_id = $1 AND id = i.collection_id AND deleted_at IS NULL AND tags @> $3::text[] OFFSET 0) AS c
 WHERE i.workspace_id = $1 AND i.item_type IN ('document', 'prompt') AND i.item_id = ANY($2::uuid[])
"""
_DESCRIBED_WITH_MEMBERSHIPS: Final = f"{_DESCRIPTION} UNION ALL {_MEMBERSHIPS.replace('$3', '$5')}"

_LITERAL: Final = """
SELECT hit.*, text_trust(x.hands, x.created_by, $6) AS trust, c.section_path
  FROM search_literally($1, $2, $3, $4) WITH ORDINALITY AS hit
  LEFT JOIN LATERAL (
       SELECT hands, created_by FROM documents WHERE hit.kind = 'document' AND workspace_id = $5 AND id = hit.id
       UNION ALL
       SELECT hands, created_by FROM prompts WHERE hit.kind = 'prompt' AND workspace_id = $5 AND id = hit.id
       UNION ALL
       SELECT 'one', created_by FROM collections WHERE hit.kind = 'collection' AND workspace_id = $5 AND id = hit.id
       ) AS x ON true
  LEFT JOIN LATERAL (
       SELECT section_path FROM chunks WHERE workspace_id = $5 AND id = hit.chunk_id OFFSET 0) AS c ON true
 ORDER BY hit.ordinality
"""

_STATE: Final = {
    kind: f"SELECT '{kind}' AS kind, counted.* FROM ({counted(kind)}) AS counted".replace("$3", "$2")
    for kind in FINDABLE
}


async def describe(
    tx: Tx, passages: Mapping[UUID, UUID | None], reader: UUID, tags: list[str] | None
) -> tuple[dict[UUID, asyncpg.Record], list[asyncpg.Record]]:
    """Read titles, descriptions and states of items, and the passages of documents that were hit, as a reader has them.

    With `tags` also in which collections that have them the items are: rows as `list_memberships` gives them.
    """
    items = (list(passages), list(passages.values()), reader)
    if tags is None:
        rows = await tx.fetch(_DESCRIPTION, tx.workspace_id, *items)
    else:
        rows = await tx.fetch(_DESCRIBED_WITH_MEMBERSHIPS, tx.workspace_id, *items, tags)
    described = {row["id"]: row for row in rows if row["kind"] != _MEMBERSHIP}
    return described, [row for row in rows if row["kind"] == _MEMBERSHIP]


async def list_memberships(tx: Tx, items: Sequence[UUID], tags: list[str], reader: UUID) -> list[asyncpg.Record]:
    """List collections that hold items and have tags, as a reader has them: `member` is the item that it holds."""
    return await tx.fetch(_MEMBERSHIPS, tx.workspace_id, items, tags, reader)


async def find_literally(
    tx: Tx, kinds: Sequence[str], text: str, tags: list[str], limit: int, reader: UUID
) -> dict[str, list[asyncpg.Record]]:
    """Find items that hold a text, ignoring case, by kind: by title or description first, then the newest."""
    found: dict[str, list[asyncpg.Record]] = {kind: [] for kind in kinds}
    for row in await tx.fetch(_LITERAL, kinds, text, tags, limit, tx.workspace_id, reader):
        found[row["kind"]].append(row)
    return found


async def count_indexed(tx: Tx, kinds: Sequence[str], tags: list[str]) -> list[asyncpg.Record]:
    """Count, by kind, what a search is over, and how many of these are not indexed as they are now."""
    return await tx.fetch(" UNION ALL ".join(_STATE[kind] for kind in kinds), tx.workspace_id, tags)
