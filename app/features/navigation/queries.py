"""SQL of passages. Scope, trash and what was shown are filtered before candidates are taken."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from pgvector import HalfVector

from app.features.indexing.service import learned, nearest_vectors
from app.store.base import EVERYTHING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    import asyncpg

    from app.features.indexing.service import Serving, Vector
    from app.features.navigation.schemas import Within
    from app.store.tx import Tx

CANDIDATES = 100
DEPTHS = (CANDIDATES, 1_000, 10_000)
"""How many are looked at one after the other while most of them are copies of few texts."""

# $2: a document or NULL; $3: a collection or NULL. Each scope has a statement of its own: in one statement for all, a
# plan that is kept would read the whole workspace to search one document.
_IN_DOCUMENT = {False: "$2::uuid IS NULL", True: "d.id = $2::uuid"}
_IN_COLLECTION = {
    False: "$3::uuid IS NULL",
    True: """(d.id IN (
    SELECT i.item_id FROM collection_items i
      JOIN collections l ON l.workspace_id = $1 AND l.id = i.collection_id AND l.deleted_at IS NULL
     WHERE i.workspace_id = $1 AND i.collection_id = $3::uuid AND i.item_type = 'document')) IS TRUE""",
}
_IN_SCOPE = "d.workspace_id = $1 AND d.deleted_at IS NULL AND {document} AND {collection}"

# Of a table that has grown since it was analyzed the planner believes that a workspace has one row, and any order of
# joins would do. So each look-up names its key behind `OFFSET 0`, each test of membership stands behind `IS TRUE`,
# which makes a hash of it, and what was computed is met with what was looked up in a full join, which is never a loop
# in a loop: whatever the planner believes, a search takes time in proportion to what it looks at.
_LIVE = "live AS MATERIALIZED (SELECT d.id FROM documents d WHERE {scope})"
_AMONG = "(c.document_id IN (SELECT id FROM live)) IS TRUE"

# Of a whole workspace those are told that are no longer there: documents in the trash that the index has not forgotten.
_ALIVE = """(c.document_id IN (
    SELECT id FROM documents
     WHERE workspace_id = $1 AND deleted_at IS NOT NULL AND chunked_revision > 0)) IS NOT TRUE"""

# The passages of one document are told before their words are read.
_OF_DOCUMENT = """AND chunk_id = ANY(ARRAY(
          SELECT id FROM chunks
           WHERE workspace_id = $1 AND document_id = $2::uuid AND level = 'paragraph'))"""

# Those of a collection, or of what a narrowed key reaches, are known before they are looked up, unless they are many:
# then enough of them are met soon.
_MANY_MEMBERS = 5_000
_MEMBERS = f"""
members AS MATERIALIZED (
  SELECT c.id
    FROM live
   CROSS JOIN LATERAL (
         SELECT id FROM chunks
          WHERE workspace_id = $1 AND document_id = live.id AND level = 'paragraph' OFFSET 0) AS c
   LIMIT {_MANY_MEMBERS}
),"""
_KNOWN = f"WHERE (SELECT count(*) FROM members) = {_MANY_MEMBERS} OR (id IN (SELECT id FROM members)) IS TRUE"

# The passages of a level that have most of the words, which the postings tell alone: they are looked up from the best
# on, until enough are in scope.
_BEST = """
hits_{level}s AS (
  SELECT p.chunk_id AS id, terms.term, value, p.tf, value * tf / (tf + base + slope * length) AS score
    FROM terms
   CROSS JOIN LATERAL (
         SELECT chunk_id, tf, length FROM postings
          WHERE workspace_id = $1 AND level = '{level}' AND language = terms.language AND term = terms.term {among}
         OFFSET 0) AS p
   WHERE terms.level = '{level}'
), found_{level}s AS MATERIALIZED (
  SELECT id, sum(score) AS score FROM hits_{level}s GROUP BY id
), best_{level}s AS MATERIALIZED (
  SELECT c.document_id, c.ordinal
    FROM (SELECT id, score FROM found_{level}s {known} ORDER BY score DESC, id OFFSET 0) AS f
   CROSS JOIN LATERAL (SELECT id, document_id, ordinal FROM chunks WHERE workspace_id = $1 AND id = f.id OFFSET 0) AS c
   WHERE {alive}
   ORDER BY f.score DESC, f.id LIMIT 5 * $6 + cardinality($4::uuid[])
), around_{level}s AS MATERIALIZED (
  SELECT c.id, b.document_id, c.ordinal, min(abs(c.ordinal - b.ordinal)) AS distance
    FROM best_{level}s AS b
   CROSS JOIN LATERAL (
         SELECT id, ordinal FROM chunks
          WHERE workspace_id = $1 AND document_id = b.document_id AND level = 'paragraph'
            AND ordinal BETWEEN b.ordinal - {reach} AND b.ordinal + {reach} OFFSET 0) AS c
   GROUP BY c.id, b.document_id, c.ordinal
)"""

# BM25 of passages (k1 0.9, b 0.4), each with 0.4 of its better neighbour: an answer often begins in one and ends in the
# next. Turns of conversations (b 0.1) are so short that the words of a question are spread over several: each counts
# for itself, and 0.8 as what it is together with the turns before and after. Rarity, number and length are the whole
# workspace's. A neighbour that is not among the best has less than those that are: what is around these is enough.
_WORDS = """
terms AS MATERIALIZED (
  SELECT level, t.language, t.major, t.term, t.weight * t.rarity AS value,
         0.9 * (1 - b) AS base, 0.9 * b / t.average AS slope
    FROM (VALUES ('paragraph', 0.4::float8), ('turn', 0.1::float8)) AS levels(level, b)
   CROSS JOIN LATERAL search_query($1, level, $5) AS t
), {members} {paragraphs}, {turns}, own AS (
  SELECT * FROM (
         SELECT id, a.document_id, a.ordinal, f.score
           FROM around_paragraphs AS a FULL JOIN found_paragraphs AS f USING (id) OFFSET 0) AS every
   WHERE score IS NOT NULL AND document_id IS NOT NULL
), said AS (
  SELECT * FROM (
         SELECT a.document_id, a.ordinal, h.term, h.value, h.tf, h.score
           FROM around_turns AS a FULL JOIN hits_turns AS h USING (id) OFFSET 0) AS every
   WHERE term IS NOT NULL AND document_id IS NOT NULL
), wide AS (
  SELECT document_id, ordinal, sum(own) + 0.8 * sum(value * tf / (tf + 0.9)) AS score
    FROM (SELECT document_id, ordinal + step AS ordinal, term, value, sum(tf) AS tf,
                 coalesce(sum(score) FILTER (WHERE step = 0), 0) AS own
            FROM said CROSS JOIN (VALUES (-1), (0), (1)) AS near(step)
           GROUP BY document_id, ordinal + step, term, value) AS every
   GROUP BY document_id, ordinal
), words AS MATERIALIZED (
  SELECT id, score, spoken
    FROM (SELECT id, false AS spoken, (score + 0.4 * greatest(
                   CASE WHEN lag(ordinal) OVER places = ordinal - 1 THEN lag(score) OVER places ELSE 0 END,
                   CASE WHEN lead(ordinal) OVER places = ordinal + 1 THEN lead(score) OVER places ELSE 0 END))
                 / 1.4 AS score
            FROM own WINDOW places AS (PARTITION BY document_id ORDER BY ordinal)
          UNION ALL
          SELECT id, true, score / 1.8
            FROM (SELECT a.id, a.distance, w.score
                    FROM around_turns AS a FULL JOIN wide AS w USING (document_id, ordinal) OFFSET 0) AS every
           WHERE distance <= 1 AND score IS NOT NULL) AS every
   WHERE (id IN (SELECT unnest($4::uuid[]))) IS NOT TRUE
   ORDER BY score DESC, id LIMIT $6
)"""

# `+ 0` keeps the planner from an approximate index, which would filter after it has chosen.
_COMPARED = """
  SELECT c.id, c.document_id, c.ordinal, c.speaker,
         1 - (v.embedding::halfvec({dim}) <=> $7::halfvec({dim})) + 0 AS cosine
    FROM {chunks} AS c
   CROSS JOIN LATERAL (
         SELECT embedding FROM vectors
          WHERE workspace_id = $1 AND text_digest = c.text_digest AND slot = {slot} AND model = $8 AND dim = {dim}
         OFFSET 0) AS v"""
_MEANT = f"""
meant AS ({_COMPARED}
   WHERE c.workspace_id = $1 AND c.level = 'paragraph' AND {{learned}} AND {{among}}
)"""

# The walk through the index may end before it comes to what was found by words: that is compared too, with the turns
# beside.
_MEANT_MANY = f"""
walked AS MATERIALIZED (
  SELECT c.id, c.document_id, c.ordinal, c.speaker, 1 - v.distance AS cosine
    FROM nearest_vectors AS v
   CROSS JOIN LATERAL (
         SELECT id, document_id, ordinal, speaker, language FROM chunks
          WHERE workspace_id = $1 AND text_digest = v.text_digest AND level = 'paragraph' OFFSET 0) AS c
   WHERE {{learned}} AND {{among}}
), worded AS MATERIALIZED (
  SELECT id FROM words
   UNION
  SELECT id FROM around_turns
   WHERE ((document_id, ordinal) IN (
         SELECT t.document_id, t.ordinal + step
           FROM around_turns AS t CROSS JOIN (VALUES (-1), (1)) AS beside(step)
          WHERE (t.id IN (SELECT id FROM words)) IS TRUE)) IS TRUE
), meant AS (
  SELECT * FROM walked
   UNION ALL{_COMPARED}
   WHERE {{learned}} AND (c.id IN (SELECT id FROM walked)) IS NOT TRUE
)"""
_WORDED = """(
         SELECT c.* FROM worded CROSS JOIN LATERAL (
                SELECT * FROM chunks WHERE workspace_id = $1 AND id = worded.id OFFSET 0) AS c)"""

# The meaning of a turn is also in those around it.
_NEAR = """
{meant}, near AS MATERIALIZED (
  SELECT id, speaker IS NOT NULL AS spoken, cosine,
         cosine + CASE WHEN speaker IS NOT NULL THEN 0.2 * (
           CASE WHEN lag(ordinal) OVER places = ordinal - 1 THEN lag(cosine) OVER places ELSE 0 END
           + CASE WHEN lead(ordinal) OVER places = ordinal + 1 THEN lead(cosine) OVER places ELSE 0 END) ELSE 0 END
           AS score
    FROM meant WINDOW places AS (PARTITION BY document_id ORDER BY ordinal)
)"""
_NOTHING_NEAR = (
    "near AS (SELECT NULL::uuid AS id, false AS spoken, NULL::float8 AS cosine, NULL::float8 AS score WHERE false)"
)

# One row that counts, then one for each candidate. A query is read in several languages; the least bound is that of
# its own. Its words are as rare among turns as they are there, so that each level has a bound of its own.
_RANKED = """
WITH {live}, {words}, {near}, nearest AS MATERIALIZED (
  SELECT * FROM near WHERE (id IN (SELECT unnest($4::uuid[]))) IS NOT TRUE ORDER BY score DESC, id LIMIT $6
), candidates AS MATERIALIZED (
  SELECT id FROM words UNION SELECT id FROM nearest
), compared AS MATERIALIZED (
  SELECT * FROM near WHERE (id IN (SELECT id FROM candidates)) IS TRUE
), bounds AS (
  SELECT level, sum(value) AS whole FROM terms WHERE major GROUP BY level, language
)
SELECT NULL::uuid AS id, NULL::float8 AS words, NULL::float8 AS near, NULL::float8 AS cosine, false AS spoken,
       (SELECT min(whole) FROM bounds WHERE level = 'paragraph') AS bound,
       (SELECT min(whole) FROM bounds WHERE level = 'turn') AS spoken_bound, counted.total, counted.pending
  FROM (SELECT count(*) AS total, count(*) FILTER (WHERE d.indexed_revision < d.revision) AS pending
          FROM documents d WHERE {scope}) AS counted
UNION ALL
SELECT k.id, w.score, n.score, n.cosine, coalesce(w.spoken, n.spoken), NULL, NULL, NULL, NULL
  FROM candidates k
  LEFT JOIN words w ON w.id = k.id
  LEFT JOIN compared n ON n.id = k.id
"""


_SIBLING = """
SELECT s.id FROM chunks s
 WHERE s.workspace_id = $1 AND s.parent_id = c.parent_id AND s.level = c.level AND s.ordinal {side} c.ordinal
 ORDER BY s.ordinal {order} LIMIT 1
"""

# The text of sections and documents is cut out of the revision that was indexed, which may not be the newest: chunks
# change together when indexing is done. $2 is where to begin, $3 how many characters to give, of each.
_CHUNKS = f"""
SELECT c.id, c.level, c.ordinal, c.parent_id, c.document_id, d.title AS document_title, c.revision, c.section_path,
       c.heading, c.start_index, c.end_index, c.word_count,
       prev.id AS prev_id, following.id AS next_id, text_trust(d.hands, d.created_by, {{reader}}) AS trust,
       CASE WHEN c.level = 'paragraph' THEN substr(c.content, $2 + 1, $3)
            ELSE (SELECT substr(t.content, c.start_index + $2 + 1,
                                least(greatest(c.end_index - c.start_index - $2, 0), $3))
                    FROM document_revisions r
                    JOIN contents t ON t.workspace_id = $1 AND t.digest = r.content_digest
                   WHERE r.workspace_id = $1 AND r.document_id = c.document_id AND r.revision = c.revision)
       END AS content
  FROM {{source}} AS c
  CROSS JOIN LATERAL (
        SELECT * FROM documents WHERE workspace_id = $1 AND id = c.document_id AND deleted_at IS NULL OFFSET 0) AS d
  LEFT JOIN LATERAL ({_SIBLING.format(side="<", order="DESC")}) AS prev ON true
  LEFT JOIN LATERAL ({_SIBLING.format(side=">", order="ASC")}) AS following ON true
 {{order}}
"""

_BY_ID = _CHUNKS.format(
    source="""(SELECT c.*, place FROM unnest($4::uuid[]) WITH ORDINALITY AS wanted(wanted_id, place)
                CROSS JOIN LATERAL (SELECT * FROM chunks WHERE workspace_id = $1 AND id = wanted_id OFFSET 0) AS c)""",
    order="ORDER BY c.place",
    reader="$5",
)

_PARTS = _CHUNKS.format(
    source="""(SELECT * FROM chunks WHERE workspace_id = $1 AND parent_id = $4 ORDER BY start_index, level, ordinal
                LIMIT $5)""",
    order="ORDER BY c.start_index, c.level, c.ordinal",
    reader="$6",
)

_SIDE = """
(SELECT * FROM chunks WHERE workspace_id = $1 AND {family} AND level = $5 AND ordinal {side} $6
  ORDER BY ordinal {order} LIMIT $7)
"""
_FAMILY = "parent_id = $4"
_ANYWHERE = "document_id = $4"


def _side(family: str, side: str, order: str) -> str:
    source = _SIDE.format(family=family, side=side, order=order)
    return _CHUNKS.format(source=source, order="ORDER BY c.ordinal", reader="$8")


_BEFORE = {family: _side(family, "<", "DESC") for family in (_FAMILY, _ANYWHERE)}
_AFTER = {family: _side(family, ">", "ASC") for family in (_FAMILY, _ANYWHERE)}

_RETIRED = """
SELECT x.document_id, x.level, x.ordinal, x.section_path, x.revision, d.revision AS current_revision,
       (SELECT substr(t.content, x.start_index + 1, least(x.end_index - x.start_index, $3))
          FROM document_revisions r
          JOIN contents t ON t.workspace_id = $1 AND t.digest = r.content_digest
         WHERE r.workspace_id = $1 AND r.document_id = x.document_id AND r.revision = x.revision) AS content
  FROM retired_chunks x
  JOIN documents d ON d.workspace_id = $1 AND d.id = x.document_id AND d.deleted_at IS NULL
 WHERE x.workspace_id = $1 AND x.id = $2
"""

_SUCCESSORS = """
SELECT c.id, c.content, c.section_path = $5 AS same_section
  FROM chunks c
 WHERE c.workspace_id = $1 AND c.document_id = $2 AND c.level = $3
 ORDER BY (c.level = 'paragraph' AND c.content = $6) DESC, (c.level = 'section' AND c.section_path = $5) DESC,
          abs(c.ordinal - $4), c.ordinal
 LIMIT $7
"""


async def rank(
    tx: Tx,
    within: Within,
    seen: Sequence[UUID],
    text: str,
    vector: Vector | None,
    serving: Serving,
    candidates: int = CANDIDATES,
) -> list[asyncpg.Record]:
    """Rank passages by words and by meaning, or by words alone where there is no vector.

    The first row counts: `pending` documents, and the scores of words that no passage can exceed (`bound`) and no turn
    (`spoken_bound`). The others are the candidates: `words`, `near` (the cosine with a part of its neighbours', for
    turns), `cosine`, `spoken` (a turn). Only a large workspace that is searched whole, and not on from what was seen,
    is asked approximately; what has the words is compared there too.
    """
    in_document, in_collection = within.document_id is not None, within.collection_id is not None
    last: tuple[HalfVector, str] | tuple[()] = ()
    place = None
    if vector is not None:
        last, place = (HalfVector(vector), serving.model), replace(serving, many=serving.many and not seen)
    sql = _ranking(place, in_document=in_document, in_collection=in_collection, narrowed=tx.reach != EVERYTHING)
    scope = (within.document_id, within.collection_id)
    return await tx.fetch(sql, tx.workspace_id, *scope, seen, text, candidates, *last)


@lru_cache(maxsize=200)
def _ranking(serving: Serving | None, *, in_document: bool, in_collection: bool, narrowed: bool) -> str:
    """Write the statement of a scope, without a model by words alone; dimension and slot stand in it as literals."""
    some = not in_document and (in_collection or narrowed)
    scope = _IN_SCOPE.format(document=_IN_DOCUMENT[in_document], collection=_IN_COLLECTION[in_collection])
    fitting = {
        "among": _OF_DOCUMENT if in_document else "",
        "known": _KNOWN if some else "",
        "alive": _AMONG if in_document or some else _ALIVE,
    }
    words = _WORDS.format(
        members=_MEMBERS if some else "",
        paragraphs=_BEST.format(level="paragraph", reach=1, **fitting),
        turns=_BEST.format(level="turn", reach=2, **fitting),
    )
    near = _NOTHING_NEAR
    if serving is not None:
        place = {"dim": int(serving.dim), "slot": int(serving.slot), "learned": learned(serving, "c.language")}
        if serving.many and not (in_document or in_collection):
            meant = _MEANT_MANY.format(chunks=_WORDED, among=fitting["alive"], **place)
            meant = nearest_vectors(serving, "$7", "$8") + meant
        else:
            among = f"c.document_id = $2::uuid AND {_AMONG}" if in_document else _AMONG
            meant = _MEANT.format(chunks="chunks", among=among, **place)
        near = _NEAR.format(meant=meant)
    return _RANKED.format(live=_LIVE.format(scope=scope), words=words, near=near, scope=scope)


async def read_chunks(tx: Tx, ids: Sequence[UUID], start: int, length: int, reader: UUID) -> list[asyncpg.Record]:
    """Read chunks in the order of their ids, each from a character on and at most so many; absent ones are left out."""
    return await tx.fetch(_BY_ID, tx.workspace_id, start, length, ids, reader)


async def read_parts(tx: Tx, parent_id: UUID, length: int, limit: int, reader: UUID) -> list[asyncpg.Record]:
    """Read the first parts of a section or document in the order of the text."""
    return await tx.fetch(_PARTS, tx.workspace_id, 0, length, parent_id, limit, reader)


async def read_before(tx: Tx, chunk: asyncpg.Record, length: int, limit: int, reader: UUID) -> list[asyncpg.Record]:
    """Read the nearest siblings before a chunk, in the order of the text."""
    args = (0, length, chunk["parent_id"], chunk["level"], chunk["ordinal"], limit, reader)
    return await tx.fetch(_BEFORE[_FAMILY], tx.workspace_id, *args)


async def read_after(tx: Tx, chunk: asyncpg.Record, length: int, limit: int, reader: UUID) -> list[asyncpg.Record]:
    """Read the nearest siblings after a chunk, in the order of the text."""
    args = (0, length, chunk["parent_id"], chunk["level"], chunk["ordinal"], limit, reader)
    return await tx.fetch(_AFTER[_FAMILY], tx.workspace_id, *args)


async def read_around(tx: Tx, chunk: asyncpg.Record, length: int, limit: int, reader: UUID) -> list[asyncpg.Record]:
    """Read the nearest chunks of the same level on both sides, whatever section they are in."""
    args = (0, length, chunk["document_id"], chunk["level"], chunk["ordinal"], limit, reader)
    before = await tx.fetch(_BEFORE[_ANYWHERE], tx.workspace_id, *args)
    return before + await tx.fetch(_AFTER[_ANYWHERE], tx.workspace_id, *args)


async def find_retired(tx: Tx, chunk_id: UUID, length: int) -> asyncpg.Record | None:
    """Find what a chunk was whose text is gone from its document."""
    return await tx.fetchrow(_RETIRED, tx.workspace_id, chunk_id, length)


async def list_successors(tx: Tx, retired: asyncpg.Record, limit: int) -> list[asyncpg.Record]:
    """List chunks that may have taken a retired one's place: the same text first, then the nearest."""
    return await tx.fetch(
        _SUCCESSORS,
        tx.workspace_id,
        retired["document_id"],
        retired["level"],
        retired["ordinal"],
        retired["section_path"],
        retired["content"],
        limit,
    )
