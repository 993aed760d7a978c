"""SQL of search. Every statement filters by workspace, tags and trash before it takes candidates.

A search is two statements: the first ranks and counts, of every kind that was asked for; the second describes what was
kept.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from pgvector import HalfVector

from app.features.indexing.service import learned, nearest_vectors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    import asyncpg

    from app.features.indexing.service import Serving, Vector
    from app.store.tx import Tx

CANDIDATES: Final = 100
MANY_CANDIDATES: Final = 1_000
"""Where most of the hundred are copies of few texts."""

_LIVE: Final = {
    "document": """x.deleted_at IS NULL AND (cardinality($3::text[]) = 0 OR x.id IN (
    SELECT t.document_id FROM document_tags t WHERE t.workspace_id = $1 AND t.tag = ANY($3)
     GROUP BY t.document_id HAVING count(*) = cardinality($3)))""",
    "prompt": "x.deleted_at IS NULL AND NOT x.archived AND x.tags @> $3::text[]",
    "collection": "x.deleted_at IS NULL AND x.tags @> $3::text[]",
}
"""Items that can be found, by kind: the table of a kind is its plural."""

LEVELS: Final = {"document": "document,paragraph,turn", "prompt": "prompt", "collection": "collection"}
"""The levels of the index that a kind is looked for in."""


# As in the search of passages: whatever the planner believes of a table that has grown since it was analyzed, each
# look-up has its key behind `OFFSET 0`, and each test of membership is a hash, by `IS TRUE`.
def _live(kind: str) -> str:
    return f"""
live_{kind}s AS MATERIALIZED (
  SELECT x.id, x.indexed_revision < x.revision AS pending FROM {kind}s x
   WHERE x.workspace_id = $1 AND {_LIVE[kind]}
)"""


def _lives(kind: str, item: str) -> str:
    return f"({item} IN (SELECT id FROM live_{kind}s)) IS TRUE"


def terms(levels: str) -> str:
    """Write the query's terms; their rarity is that among all that the workspace has of a level."""
    return f"""
terms AS MATERIALIZED (
  SELECT level, t.language, t.major, t.term, t.weight * t.rarity AS value, t.average
    FROM unnest('{{{levels}}}'::text[]) AS level CROSS JOIN LATERAL search_query($1, level, $2) AS t
)"""


def _bm25(k1: float, b: float) -> str:
    return f"sum(value * tf / (tf + {k1} * ({1 - b:.2f} + {b} * p.length / average)))"


ITEM_SCORE: Final = _bm25(1.5, 0.75)
PASSAGE_SCORE: Final = _bm25(0.9, 0.4)


def _scores(level: str) -> str:
    return f"""
SELECT p.chunk_id, {ITEM_SCORE} AS score
  FROM terms
 CROSS JOIN LATERAL (
       SELECT chunk_id, tf, length FROM postings
        WHERE workspace_id = $1 AND level = '{level}' AND language = terms.language AND term = terms.term
       OFFSET 0) AS p
 WHERE terms.level = '{level}'
 GROUP BY p.chunk_id"""


# Documents by their words.
DOCUMENT_WORDS: Final = f"""
document_words AS MATERIALIZED (
  SELECT c.document_id AS id, s.score
    FROM ({_scores("document")}) AS s
   CROSS JOIN LATERAL (SELECT document_id FROM chunks WHERE workspace_id = $1 AND id = s.chunk_id OFFSET 0) AS c
   WHERE {_lives("document", "c.document_id")}
   ORDER BY s.score DESC, c.document_id LIMIT $4
)"""

# Of each candidate the passage with most of the words, and how much that is.
_DOCUMENT_PASSAGES: Final = f"""
document_passages AS MATERIALIZED (
  SELECT DISTINCT ON (s.document_id) s.document_id AS id, s.chunk_id AS passage, s.score
    FROM (SELECT k.id AS document_id, c.id AS chunk_id, {PASSAGE_SCORE} AS score
            FROM (SELECT id FROM document_words UNION SELECT id FROM document_near) AS k
           CROSS JOIN LATERAL (
                 SELECT id, language, CASE WHEN speaker IS NULL THEN 'paragraph' ELSE 'turn' END AS level
                   FROM chunks WHERE workspace_id = $1 AND document_id = k.id AND level = 'paragraph' OFFSET 0) AS c
            JOIN terms ON terms.level = c.level AND terms.language = c.language
           CROSS JOIN LATERAL (
                 SELECT tf, length FROM postings
                  WHERE workspace_id = $1 AND level = terms.level AND language = terms.language AND term = terms.term
                    AND chunk_id = c.id OFFSET 0) AS p
           GROUP BY k.id, c.id) AS s
   ORDER BY s.document_id, s.score DESC, s.chunk_id
)"""


def _item_words(kind: str) -> str:
    return f"""
{kind}_words AS MATERIALIZED (
  SELECT s.chunk_id AS id, s.score
    FROM ({_scores(kind)}) AS s
   WHERE {_lives(kind, "s.chunk_id")}
   ORDER BY s.score DESC, s.chunk_id LIMIT $4
), {kind}_passages AS (SELECT NULL::uuid AS id, NULL::uuid AS passage, NULL::float8 AS score WHERE false)"""


_READ: Final = 1_500.0
"""Characters of a document that its own vector stands for, as models read no more: of a longer one it says less."""


def _near(kind: str, serving: Serving, *, many: bool) -> str:
    """Write a ranking by cosine; a document's is the mean of its own and its nearest passage's, unless it is long."""
    # `+ 0` keeps the planner from an approximate index: below some ten thousand vectors the exact scan is faster.
    dim = int(serving.dim)
    distance = f"v.embedding::halfvec({dim}) <=> $5::halfvec({dim})"
    known = learned(serving, "c.language")
    vector = f"v.workspace_id = $1 AND v.slot = {int(serving.slot)} AND v.model = $6 AND v.dim = {dim}"
    if kind != "document":
        return f"""
{kind}_near AS MATERIALIZED (
  SELECT e.item_id AS id, 1 - ({distance}) + 0 AS score, NULL::uuid AS passage
    FROM index_entries e
   CROSS JOIN LATERAL (
         SELECT embedding FROM vectors v WHERE {vector} AND v.text_digest = e.text_digest OFFSET 0) AS v
   WHERE e.workspace_id = $1 AND e.kind = '{kind}' AND {_lives(kind, "e.item_id")}
   ORDER BY score DESC, e.item_id LIMIT $4
)"""
    if many:
        return nearest_vectors(serving, "$5", "$6") + _by_document("1 - v.distance", "nearest_vectors", known)
    return _by_document(f"1 - ({distance}) + 0", "vectors", f"{vector} AND {known}")


def _by_document(similarity: str, source: str, condition: str) -> str:
    # Compared first and grouped afterwards: a sort would carry the vectors along.
    return f"""
compared AS MATERIALIZED (
  SELECT c.document_id, c.id AS chunk_id, c.level, c.end_index AS length, {similarity} AS similarity
    FROM {source} v
   CROSS JOIN LATERAL (
         SELECT id, document_id, level, end_index, language FROM chunks
          WHERE workspace_id = $1 AND text_digest = v.text_digest OFFSET 0) AS c
   WHERE {condition} AND {_lives("document", "c.document_id")}
), nearest_documents AS MATERIALIZED (
  SELECT id, nearest + (coalesce(begins, nearest) - nearest) * least(1, {_READ} / greatest(length, 1)) / 2 AS score
    FROM (SELECT document_id AS id, max(similarity) FILTER (WHERE level = 'document') AS begins,
                 coalesce(max(similarity) FILTER (WHERE level = 'paragraph'), max(similarity)) AS nearest,
                 max(length) AS length
            FROM compared GROUP BY document_id) AS every
   ORDER BY score DESC, id LIMIT $4
), nearest_passages AS MATERIALIZED (
  SELECT DISTINCT ON (document_id) document_id, chunk_id
    FROM compared WHERE level = 'paragraph' AND (document_id IN (SELECT id FROM nearest_documents)) IS TRUE
   ORDER BY document_id, similarity DESC, chunk_id
), document_near AS MATERIALIZED (
  SELECT n.id, n.score, p.chunk_id AS passage
    FROM nearest_documents n LEFT JOIN nearest_passages p ON p.document_id = n.id
)"""


def _nothing_near(kind: str) -> str:
    return f"""
{kind}_near AS (SELECT NULL::uuid AS id, NULL::float8 AS score, NULL::uuid AS passage WHERE false)"""


def bound(kind: str) -> str:
    """Write the score of words that no item can exceed."""
    # A query is read in several languages. Where it is read wrongly no stop word is known and all words are rare: the
    # least bound is that of its own language.
    return f"""(
       SELECT min(whole)
         FROM (SELECT sum(value) AS whole FROM terms WHERE level = '{kind}' AND major GROUP BY language) AS every)"""


def _ranked(kind: str) -> str:
    """Write the rows of a kind: one that counts, with its bound, and one for each candidate."""
    return f"""
SELECT '{kind}' AS kind, NULL::uuid AS id, NULL::float8 AS words, NULL::float8 AS part, NULL::float8 AS cosine,
       NULL::uuid AS passage, {bound(kind)} AS bound,
       (SELECT count(*) FROM live_{kind}s) AS total, (SELECT count(*) FROM live_{kind}s WHERE pending) AS pending
UNION ALL
SELECT '{kind}', k.id, w.score, p.score, n.score, coalesce(p.passage, n.passage), NULL, NULL, NULL
  FROM (SELECT id FROM {kind}_words UNION SELECT id FROM {kind}_near) AS k
  LEFT JOIN {kind}_words w ON w.id = k.id
  LEFT JOIN {kind}_near n ON n.id = k.id
  LEFT JOIN {kind}_passages p ON p.id = k.id"""


@lru_cache(maxsize=200)
def _ranking(kinds: tuple[str, ...], serving: Serving | None) -> str:
    """Write the first statement for some kinds, without a model by words alone.

    Dimension and slot stand in it as literals, as in the indexes.
    """
    parts = [terms(",".join(LEVELS[kind] for kind in kinds))]
    for kind in kinds:
        near = _nothing_near(kind) if serving is None else _near(kind, serving, many=serving.many)
        words = [DOCUMENT_WORDS, near, _DOCUMENT_PASSAGES] if kind == "document" else [_item_words(kind), near]
        parts.extend([_live(kind), *words])
    return f"WITH {','.join(parts)} {' UNION ALL '.join(_ranked(kind) for kind in kinds)}"


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
    kind: f"""
SELECT '{kind}' AS kind, count(*) AS total, count(*) FILTER (WHERE x.indexed_revision < x.revision) AS pending
  FROM {kind}s x WHERE x.workspace_id = $1 AND {live}
""".replace("$3", "$2")
    for kind, live in _LIVE.items()
}


async def rank(
    tx: Tx,
    kinds: Sequence[str],
    text: str,
    tags: list[str],
    vector: Vector | None,
    serving: Serving,
    candidates: int = CANDIDATES,
) -> dict[str, list[asyncpg.Record]]:
    """Rank items of some kinds by words and by meaning, or by words alone where there is no vector.

    By kind, a row that counts (`total`, `pending`, and `bound`: the score of words that none can exceed), then one for
    each candidate: `words` and `part` (BM25 of the item, and of its best passage), `cosine`, `passage`. Only a large
    workspace that is searched without a filter is asked approximately.
    """
    near: tuple[HalfVector, str] | tuple[()] = ()
    place = None
    if vector is not None:
        near, place = (HalfVector(vector), serving.model), replace(serving, many=serving.many and not tags)
    sql = _ranking(tuple(kinds), place)
    found: dict[str, list[asyncpg.Record]] = {kind: [] for kind in kinds}
    for row in await tx.fetch(sql, tx.workspace_id, text, tags, candidates, *near):
        found[row["kind"]].append(row)
    return found


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
