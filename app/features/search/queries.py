"""SQL of search. Every statement filters by workspace, tags and trash before it takes candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgvector import HalfVector

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    import asyncpg

    from app.features.indexing.service import Vector
    from app.store.tx import Tx

CANDIDATES = 100

_TAGGED = """
(cardinality({tags}::text[]) = 0 OR (
  SELECT count(*) FROM document_tags t
   WHERE t.workspace_id = $1 AND t.document_id = d.id AND t.tag = ANY({tags})) = cardinality({tags}))
"""

# BM25 (k1 1.5, b 0.75) over whole documents; idf, chunk count and length are the workspace's own.
_TERMS = """
WITH query AS (
  SELECT lexeme AS term, cardinality(positions) AS weight FROM unnest(to_tsvector($2::text::regconfig, $3))
), statistics AS (
  SELECT chunks::float8 AS n, length::float8 / greatest(chunks, 1) AS average
    FROM index_statistics WHERE workspace_id = $1 AND language = $2 AND level = '{level}'
), terms AS MATERIALIZED (
  SELECT term, weight, (SELECT count(*) FROM postings p
                         WHERE p.workspace_id = $1 AND p.level = '{level}' AND p.language = $2
                           AND p.term = query.term) AS df
    FROM query
)
"""
_BM25 = """
sum(weight * ln(1 + (n - df + 0.5) / (df + 0.5)) * tf
    / (tf + {k1} * ({rest} + {b} * p.length / greatest(average, 1))))
"""
_JOIN = """
FROM terms JOIN postings p ON p.workspace_id = $1 AND p.level = '{level}' AND p.language = $2 AND p.term = terms.term
CROSS JOIN statistics
"""


def _bm25(k1: float, b: float) -> str:
    return _BM25.format(k1=k1, b=b, rest=1 - b)


_LEXICAL = f"""
{_TERMS.format(level="document")}
, scores AS (
  SELECT p.chunk_id, {_bm25(1.5, 0.75)} AS score {_JOIN.format(level="document")} GROUP BY p.chunk_id
)
SELECT d.id, s.score,
       (SELECT sum(weight * ln(1 + (n - df + 0.5) / (df + 0.5))) FROM terms, statistics) AS bound
  FROM scores s
  JOIN chunks c ON c.workspace_id = $1 AND c.id = s.chunk_id
  JOIN documents d ON d.workspace_id = $1 AND d.id = c.document_id
 WHERE d.deleted_at IS NULL AND {_TAGGED.format(tags="$4")}
 ORDER BY s.score DESC, d.id
 LIMIT $5
"""

# `+ 0` keeps the planner from an approximate index: below some ten thousand vectors the exact scan is faster.
_DENSE = f"""
SELECT document_id AS id, max(similarity) AS score,
       (array_agg(chunk_id ORDER BY similarity DESC, chunk_id) FILTER (WHERE level = 'paragraph'))[1] AS chunk
  FROM (SELECT c.document_id, c.id AS chunk_id, c.level,
               1 - (v.embedding::halfvec({{dim}}) <=> $2::halfvec({{dim}})) + 0 AS similarity
          FROM vectors v
          JOIN chunks c ON c.workspace_id = $1 AND c.text_digest = v.text_digest
          JOIN documents d ON d.workspace_id = $1 AND d.id = c.document_id
         WHERE v.workspace_id = $1 AND v.slot = 0 AND v.model = $3 AND v.dim = {{dim}}
           AND d.deleted_at IS NULL AND {_TAGGED.format(tags="$4")}) AS every
 GROUP BY document_id
 ORDER BY score DESC, document_id
 LIMIT $5
"""

# The passage of each hit that matches the query's words best.
_PASSAGES = f"""
{_TERMS.format(level="paragraph")}
, scores AS (
  SELECT c.document_id, p.chunk_id, {_bm25(0.9, 0.4)} AS score
  {_JOIN.format(level="paragraph")}
    JOIN chunks c ON c.workspace_id = $1 AND c.id = p.chunk_id AND c.document_id = ANY($4::uuid[])
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

# `position` compares up to the whole needle at every place of a text made for it; the regular-expression engine, with
# every character literal (`***=`), stays linear, and is slower for the short needles that people type.
_SHORT = 64
_PLACE = f"""
CASE WHEN length($2) <= {_SHORT} THEN position(lower($2) IN lower({{text}}))
     ELSE regexp_instr(lower({{text}}), '***=' || lower($2)) END
"""

# Literal search: the whole body, also before it is indexed; a passage is named where there is one already.
_LITERAL = f"""
SELECT m.id, m.title, m.status, h.id AS chunk_id,
       substr(m.content, greatest(m.place - 80, 1), 80 + length($2) + 120) AS highlight
  FROM (SELECT d.id, d.title, d.status, d.created_at, t.content,
               {_PLACE.format(text="d.title")} AS in_title, {_PLACE.format(text="t.content")} AS place
          FROM documents d
          JOIN contents t ON t.workspace_id = d.workspace_id AND t.digest = d.content_digest
         WHERE d.workspace_id = $1 AND d.deleted_at IS NULL AND {_TAGGED.format(tags="$3")}) AS m
  LEFT JOIN LATERAL (
       SELECT c.id FROM chunks c
        WHERE c.workspace_id = $1 AND c.document_id = m.id AND c.level = 'paragraph' AND m.place > 0
          AND m.place - 1 BETWEEN c.start_index AND c.end_index - 1
        LIMIT 1) AS h ON true
 WHERE m.in_title > 0 OR m.place > 0
 ORDER BY (m.in_title > 0) DESC, m.created_at DESC, m.id
 LIMIT $4
"""

_PENDING = """
SELECT count(*) FROM documents WHERE workspace_id = $1 AND deleted_at IS NULL AND indexed_revision < revision
"""


async def rank_lexically(tx: Tx, language: str, text: str, tags: list[str]) -> list[asyncpg.Record]:
    """Rank documents by BM25; `bound` is the score that no document can exceed, for a query that it answers wholly."""
    return await tx.fetch(_LEXICAL, tx.workspace_id, language, text, tags, CANDIDATES)


async def rank_by_vector(tx: Tx, vector: Vector, model: str, tags: list[str]) -> list[asyncpg.Record]:
    """Rank documents by the cosine of their nearest passage; the statement holds the dimension as a literal."""
    sql = _DENSE.format(dim=len(vector))
    return await tx.fetch(sql, tx.workspace_id, HalfVector(vector), model, tags, CANDIDATES)


async def find_passages(tx: Tx, language: str, text: str, ids: Sequence[UUID]) -> dict[UUID, UUID]:
    """Find the passage of each document that matches the words best."""
    rows = await tx.fetch(_PASSAGES, tx.workspace_id, language, text, ids)
    return {row["document_id"]: row["chunk_id"] for row in rows}


async def describe_hits(tx: Tx, hits: Sequence[tuple[UUID, UUID | None]]) -> dict[UUID, asyncpg.Record]:
    """Read titles, states and passages of hits."""
    rows = await tx.fetch(_DESCRIBE, tx.workspace_id, [hit[0] for hit in hits], [hit[1] for hit in hits])
    return {row["id"]: row for row in rows}


async def find_literally(tx: Tx, text: str, tags: list[str], limit: int) -> list[asyncpg.Record]:
    """Find documents whose title or body holds a text, ignoring case; titles first, then the newest."""
    return await tx.fetch(_LITERAL, tx.workspace_id, text, tags, limit)


async def count_pending(tx: Tx) -> int:
    """Count documents whose current text is not indexed."""
    count: int = await tx.fetchval(_PENDING, tx.workspace_id)
    return count
