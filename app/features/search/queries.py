"""SQL of search. Every statement filters by workspace, tags and trash before it takes candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pgvector import HalfVector

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    import asyncpg

    from app.features.indexing.service import Serving, Vector
    from app.store.tx import Tx

CANDIDATES = 100

_TAGGED = """
(cardinality({tags}::text[]) = 0 OR (
  SELECT count(*) FROM document_tags t
   WHERE t.workspace_id = $1 AND t.document_id = d.id AND t.tag = ANY({tags})) = cardinality({tags}))
"""

_LIVE: Final = {
    "prompt": "x.deleted_at IS NULL AND NOT x.archived AND x.tags @> {tags}::text[]",
    "collection": "x.deleted_at IS NULL AND x.tags @> {tags}::text[]",
}
"""Items that can be found, by kind: the table of a kind is its plural."""

# BM25 over the terms of `search_query`, which are as rare as they are among all that the workspace has of a level.
_TERMS = "WITH terms AS MATERIALIZED (SELECT * FROM search_query($1, '{level}', $2))"
_BM25 = "sum(weight * rarity * tf / (tf + {k1} * ({rest} + {b} * p.length / average)))"
_JOIN = """
FROM terms JOIN postings p ON p.workspace_id = $1 AND p.level = '{level}' AND p.language = terms.language
                          AND p.term = terms.term
"""
_BOUND = "(SELECT max(whole) FROM (SELECT sum(weight * rarity) AS whole FROM terms GROUP BY language) AS most)"


def _bm25(k1: float, b: float) -> str:
    return _BM25.format(k1=k1, b=b, rest=1 - b)


def _scores(level: str, k1: float = 1.5, b: float = 0.75) -> str:
    return f"""
{_TERMS.format(level=level)}
, scores AS (SELECT p.chunk_id, {_bm25(k1, b)} AS score {_JOIN.format(level=level)} GROUP BY p.chunk_id)
"""


_LEXICAL = f"""
{_scores("document")}
SELECT d.id, s.score, {_BOUND} AS bound
  FROM scores s
  JOIN chunks c ON c.workspace_id = $1 AND c.id = s.chunk_id
  JOIN documents d ON d.workspace_id = $1 AND d.id = c.document_id
 WHERE d.deleted_at IS NULL AND {_TAGGED.format(tags="$3")}
 ORDER BY s.score DESC, d.id
 LIMIT $4
"""

_LEXICAL_ITEMS = {
    kind: f"""
{_scores(kind)}
SELECT x.id, s.score, {_BOUND} AS bound
  FROM scores s
  JOIN {kind}s x ON x.workspace_id = $1 AND x.id = s.chunk_id
 WHERE {live.format(tags="$3")}
 ORDER BY s.score DESC, x.id
 LIMIT $4
"""
    for kind, live in _LIVE.items()
}

# `+ 0` keeps the planner from an approximate index: below some ten thousand vectors the exact scan is faster.
_SIMILARITY = "1 - (v.embedding::halfvec({{dim}}) <=> $2::halfvec({{dim}})) + 0"
_VECTOR = "v.workspace_id = $1 AND v.slot = {{slot}} AND v.model = $3 AND v.dim = {{dim}}"

_DENSE = f"""
SELECT document_id AS id, max(similarity) AS score,
       (array_agg(chunk_id ORDER BY similarity DESC, chunk_id) FILTER (WHERE level = 'paragraph'))[1] AS chunk
  FROM (SELECT c.document_id, c.id AS chunk_id, c.level, {_SIMILARITY.format()} AS similarity
          FROM vectors v
          JOIN chunks c ON c.workspace_id = $1 AND c.text_digest = v.text_digest
          JOIN documents d ON d.workspace_id = $1 AND d.id = c.document_id
         WHERE {_VECTOR.format()} AND d.deleted_at IS NULL AND {_TAGGED.format(tags="$4")}) AS every
 GROUP BY document_id
 ORDER BY score DESC, document_id
 LIMIT $5
"""

# The approximate index is asked for more than are shown, since several may be of one document, and goes on while the
# workspace has more: foreign vectors of the partition are passed over.
_NEAREST = 400
_DENSE_MANY = f"""
WITH near AS MATERIALIZED (
  SELECT v.text_digest, v.embedding::halfvec({{dim}}) <=> $2::halfvec({{dim}}) AS distance
    FROM vectors v
   WHERE {_VECTOR.format()}
   ORDER BY v.embedding::halfvec({{dim}}) <=> $2::halfvec({{dim}})
   LIMIT {_NEAREST})
SELECT document_id AS id, max(similarity) AS score,
       (array_agg(chunk_id ORDER BY similarity DESC, chunk_id) FILTER (WHERE level = 'paragraph'))[1] AS chunk
  FROM (SELECT c.document_id, c.id AS chunk_id, c.level, 1 - near.distance AS similarity
          FROM near
          JOIN chunks c ON c.workspace_id = $1 AND c.text_digest = near.text_digest
          JOIN documents d ON d.workspace_id = $1 AND d.id = c.document_id
         WHERE d.deleted_at IS NULL AND cardinality($4::text[]) = 0) AS every
 GROUP BY document_id
 ORDER BY score DESC, document_id
 LIMIT $5
"""
_SEARCHES = """
SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', '400', true),
       set_config('hnsw.max_scan_tuples', '400000', true), set_config('hnsw.scan_mem_multiplier', '8', true)
"""

_DENSE_ITEMS = {
    kind: f"""
SELECT x.id, {_SIMILARITY.format()} AS score
  FROM index_entries e
  JOIN vectors v ON v.workspace_id = $1 AND v.text_digest = e.text_digest
  JOIN {kind}s x ON x.workspace_id = $1 AND x.id = e.item_id
 WHERE e.workspace_id = $1 AND e.kind = '{kind}' AND {_VECTOR.format()} AND {live.format(tags="$4")}
 ORDER BY score DESC, x.id
 LIMIT $5
"""
    for kind, live in _LIVE.items()
}

# The passage of each hit that matches the query's words best.
_PASSAGES = f"""
{_TERMS.format(level="paragraph")}
, scores AS (
  SELECT c.document_id, p.chunk_id, {_bm25(0.9, 0.4)} AS score
  {_JOIN.format(level="paragraph")}
    JOIN chunks c ON c.workspace_id = $1 AND c.id = p.chunk_id AND c.document_id = ANY($3::uuid[])
   GROUP BY c.document_id, p.chunk_id
)
SELECT DISTINCT ON (document_id) document_id, chunk_id FROM scores ORDER BY document_id, score DESC, chunk_id
"""

_DESCRIBE = """
SELECT d.id, d.title, d.status, c.id AS chunk_id, c.content AS highlight
  FROM unnest($2::uuid[], $3::uuid[]) AS hit(document_id, chunk_id)
  JOIN documents d ON d.workspace_id = $1 AND d.id = hit.document_id
  LEFT JOIN chunks c ON c.workspace_id = $1 AND c.id = hit.chunk_id
"""

_NAMES = {"prompt": "title, description", "collection": "name AS title, description"}
_DESCRIBE_ITEMS = "SELECT id, {names} FROM {kind}s WHERE workspace_id = $1 AND id = ANY($2)"

_LITERAL = "SELECT * FROM search_literally($1, $2, $3, $4)"

# Two counts, since each has an index of its own.
_STATE = """
SELECT (SELECT count(*) FROM {kind}s {alias} WHERE workspace_id = $1 AND {live}) AS total,
       (SELECT count(*) FROM {kind}s {alias} WHERE workspace_id = $1 AND {live} AND indexed_revision < revision)
         AS pending
"""
_STATES = {
    "document": _STATE.format(kind="document", alias="d", live=f"deleted_at IS NULL AND {_TAGGED.format(tags='$2')}"),
    **{kind: _STATE.format(kind=kind, alias="x", live=live.format(tags="$2")) for kind, live in _LIVE.items()},
}


async def rank_lexically(tx: Tx, kind: str, text: str, tags: list[str]) -> list[asyncpg.Record]:
    """Rank items of a kind by BM25; `bound` is the score that none can exceed, for a query that it answers wholly."""
    sql = _LEXICAL if kind == "document" else _LEXICAL_ITEMS[kind]
    return await tx.fetch(sql, tx.workspace_id, text, tags, CANDIDATES)


async def rank_by_vector(tx: Tx, kind: str, vector: Vector, serving: Serving, tags: list[str]) -> list[asyncpg.Record]:
    """Rank items by the cosine of their text, documents by their nearest passage.

    The statement holds dimension and slot as literals, as the indexes do. Only a large workspace that is searched
    without a filter is asked approximately.
    """
    many = serving.many and kind == "document" and not tags
    if many:
        await tx.fetchrow(_SEARCHES)
    statement = _DENSE_MANY if many else _DENSE if kind == "document" else _DENSE_ITEMS[kind]
    sql = statement.format(dim=len(vector), slot=int(serving.slot))
    return await tx.fetch(sql, tx.workspace_id, HalfVector(vector), serving.model, tags, CANDIDATES)


async def find_passages(tx: Tx, text: str, ids: Sequence[UUID]) -> dict[UUID, UUID]:
    """Find the passage of each document that matches the words best."""
    rows = await tx.fetch(_PASSAGES, tx.workspace_id, text, ids)
    return {row["document_id"]: row["chunk_id"] for row in rows}


async def describe_hits(tx: Tx, hits: Sequence[tuple[UUID, UUID | None]]) -> dict[UUID, asyncpg.Record]:
    """Read titles, states and passages of documents that were hit."""
    rows = await tx.fetch(_DESCRIBE, tx.workspace_id, [hit[0] for hit in hits], [hit[1] for hit in hits])
    return {row["id"]: row for row in rows}


async def describe_items(tx: Tx, kind: str, ids: Sequence[UUID]) -> dict[UUID, asyncpg.Record]:
    """Read titles and descriptions of items."""
    sql = _DESCRIBE_ITEMS.format(kind=kind, names=_NAMES[kind])
    return {row["id"]: row for row in await tx.fetch(sql, tx.workspace_id, ids)}


async def find_literally(
    tx: Tx, kinds: Sequence[str], text: str, tags: list[str], limit: int
) -> dict[str, list[asyncpg.Record]]:
    """Find items that hold a text, ignoring case, by kind: by title or description first, then the newest."""
    found: dict[str, list[asyncpg.Record]] = {kind: [] for kind in kinds}
    for row in await tx.fetch(_LITERAL, kinds, text, tags, limit):
        found[row["kind"]].append(row)
    return found


async def count_indexed(tx: Tx, kind: str, tags: list[str]) -> tuple[int, int]:
    """Count what a search of a kind is over, and how many of these are not indexed as they are now."""
    row = await tx.fetchrow(_STATES[kind], tx.workspace_id, tags)
    assert row is not None
    return row["total"], row["pending"]
