"""SQL that ranks. Every statement filters by workspace, tags and trash before it takes candidates."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from pgvector import HalfVector

from app.features.indexing.service import learned, nearest_vectors
from app.store.base import EVERYTHING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import asyncpg

    from app.features.indexing.service import Serving, Vector
    from app.store.tx import Tx

CANDIDATES: Final = 100
DEPTHS: Final = (CANDIDATES, 1_000, 10_000)
"""How many are looked at in turn where most are copies of few texts."""

FINDABLE: Final = {
    "document": "x.deleted_at IS NULL AND x.tags @> $3::text[]",
    "prompt": "x.deleted_at IS NULL AND NOT x.archived AND x.tags @> $3::text[]",
    "collection": "x.deleted_at IS NULL AND x.tags @> $3::text[]",
}
"""What can be found, by kind: the table of a kind is its plural."""

_TAGGED: Final = """(cardinality($3::text[]) = 0 OR x.id IN (
    SELECT t.document_id FROM document_tags t WHERE t.workspace_id = $1 AND t.tag = ANY($3)
     GROUP BY t.document_id HAVING count(*) = cardinality($3)))"""
"""The same of the tags of documents, where all that have them are asked for."""

LEVELS: Final = {"document": "document,paragraph,turn", "prompt": "prompt", "collection": "collection"}
"""The levels of the index that a kind is looked for in."""

# As in the search of passages: whatever the planner believes of a table that has grown since it was analyzed, each
# look-up has its key behind `OFFSET 0`, each test of membership is a hash, by `IS TRUE`, and what was computed is met
# with what was looked up in a full join, which is never a loop in a loop. Candidates are looked up one after the other,
# best first, until there are enough: only filters that leave little begin with what they leave.
_NOT_IN_TRASH: Final = """(c.document_id IN (
         SELECT id FROM documents
          WHERE workspace_id = $1 AND deleted_at IS NOT NULL AND chunked_revision > 0)) IS NOT TRUE"""
"""Of a whole workspace those documents are told that the index has not forgotten yet."""

_CHOSEN_BY_FILTERS: Final = "(c.document_id IN (SELECT id FROM chosen_documents)) IS TRUE"


def _findable(kind: str, item: str) -> str:
    return f"({item} IN (SELECT x.id FROM {kind}s x WHERE x.workspace_id = $1 AND {FINDABLE[kind]})) IS TRUE"


def terms(levels: str) -> str:
    """Write the query's terms; their rarity is that among all that the workspace has of a level."""
    return f"""
terms AS MATERIALIZED (
  SELECT level, t.language, t.major, t.term, t.weight * t.rarity AS value, t.average
    FROM unnest('{{{levels}}}'::text[]) AS level CROSS JOIN LATERAL search_query($1, level, $2) AS t
)"""


def _bm25(k1: float, length: str) -> str:
    return f"sum(value * tf / (tf + {k1} * ({length})))"


def _long(b: float) -> str:
    return f"{1 - b:.2f} + {b} * p.length / average"


ITEM_SCORE: Final = _bm25(1.5, _long(0.75))
PASSAGE_SCORE: Final = _bm25(0.9, f"CASE terms.level WHEN 'turn' THEN {_long(0.1)} ELSE {_long(0.4)} END")
"""Of passages length counts less, and least of turns of conversations, which are all short."""


def _scored(levels: str, score: str, chunks: str | None = None, when: str = "true") -> str:
    """Write scores by chunk id, of all chunks or of those in an array: one walk through the index for each term."""
    among = f" AND chunk_id = ANY ({chunks})" if chunks else ""
    return f"""
SELECT p.chunk_id, {score} AS score
  FROM terms
 CROSS JOIN LATERAL (
       SELECT chunk_id, tf, length FROM postings
        WHERE workspace_id = $1 AND level = terms.level AND language = terms.language AND term = terms.term{among}
       OFFSET 0) AS p
 WHERE terms.level IN ({levels}) AND {when}
 GROUP BY p.chunk_id"""


_SCORED_DOCUMENTS: Final = _scored("'document'", ITEM_SCORE)


def document_words(findable: str, scored: str = _SCORED_DOCUMENTS) -> str:
    """Write the documents with most of the words; `findable` is a condition for `c.document_id`."""
    return f"""
document_words AS MATERIALIZED (
  SELECT c.document_id AS id, s.score
    FROM (SELECT chunk_id, score FROM ({scored}) AS every ORDER BY score DESC, chunk_id OFFSET 0) AS s
   CROSS JOIN LATERAL (SELECT document_id FROM chunks WHERE workspace_id = $1 AND id = s.chunk_id OFFSET 0) AS c
   WHERE {findable}
   ORDER BY s.score DESC, s.chunk_id LIMIT $4
)"""


_FEW_PASSAGES: Final = 5_000

# Of each document that has them the passage with most of the words, and how much that is. Where the documents have so
# many passages that looking at each would take long, these are sought among the best of all.
_DOCUMENT_PASSAGES: Final = f"""
passages AS MATERIALIZED (
  SELECT c.id AS chunk_id, c.document_id, c.spoken
    FROM document_words d
   CROSS JOIN LATERAL (
         SELECT id, document_id, speaker IS NOT NULL AS spoken FROM chunks
          WHERE workspace_id = $1 AND document_id = d.id AND level = 'paragraph' OFFSET 0) AS c
   LIMIT {_FEW_PASSAGES}
), few AS MATERIALIZED (
  SELECT count(*) < {_FEW_PASSAGES} AS passages FROM passages
), worded AS MATERIALIZED (
  {_scored("'paragraph', 'turn'", PASSAGE_SCORE, "ARRAY(SELECT chunk_id FROM passages)", "(SELECT passages FROM few)")}
), best AS MATERIALIZED (
  SELECT chunk_id, score
    FROM ({_scored("'paragraph', 'turn'", PASSAGE_SCORE, when="NOT (SELECT passages FROM few)")}) AS every
   ORDER BY score DESC, chunk_id LIMIT {_FEW_PASSAGES}
), document_passages AS MATERIALIZED (
  SELECT DISTINCT ON (document_id) document_id AS id, chunk_id AS passage, spoken, score
    FROM (SELECT chunk_id, document_id, spoken, score
            FROM passages FULL JOIN worded USING (chunk_id)
          UNION ALL
          SELECT c.id, c.document_id, c.speaker IS NOT NULL, best.score
            FROM best
           CROSS JOIN LATERAL (
                 SELECT id, document_id, speaker FROM chunks
                  WHERE workspace_id = $1 AND id = best.chunk_id OFFSET 0) AS c
           WHERE (c.document_id IN (SELECT id FROM document_words)) IS TRUE
          OFFSET 0) AS every
   WHERE score IS NOT NULL
   ORDER BY document_id, score DESC, chunk_id
)"""


def _item_words(kind: str) -> str:
    return f"""
{kind}_words AS MATERIALIZED (
  SELECT s.chunk_id AS id, s.score
    FROM ({_scored(f"'{kind}'", ITEM_SCORE)} ORDER BY score DESC, p.chunk_id OFFSET 0) AS s
   WHERE {_findable(kind, "s.chunk_id")}
   ORDER BY s.score DESC, s.chunk_id LIMIT $4
), {kind}_passages AS (
  SELECT NULL::uuid AS id, NULL::uuid AS passage, false AS spoken, NULL::float8 AS score WHERE false)"""


_READ: Final = 1_500.0
"""Characters of a document that its own vector stands for, as models read no more: of a longer one it says less."""

_VECTORS_EACH: Final = 10
"""Vectors that are looked at for each candidate, since several may be of one document."""


def _vector(serving: Serving) -> tuple[str, str]:
    """Write the condition of a serving vector, and its distance to the question's."""
    dim = int(serving.dim)
    condition = f"v.workspace_id = $1 AND v.slot = {int(serving.slot)} AND v.model = $6 AND v.dim = {dim}"
    return condition, f"(v.embedding::halfvec({dim}) <=> $5::halfvec({dim}))"


def _item_near(kind: str, serving: Serving) -> str:
    # `+ 0` keeps the planner from an approximate index: below some ten thousand vectors the exact scan is faster.
    condition, distance = _vector(serving)
    return f"""
{kind}_near AS MATERIALIZED (
  SELECT s.id, s.score, NULL::uuid AS passage, false AS spoken
    FROM (SELECT e.item_id AS id, 1 - {distance} + 0 AS score
            FROM index_entries e
           CROSS JOIN LATERAL (
                 SELECT embedding FROM vectors v WHERE {condition} AND v.text_digest = e.text_digest OFFSET 0) AS v
           WHERE e.workspace_id = $1 AND e.kind = '{kind}'
           ORDER BY score DESC, e.item_id OFFSET 0) AS s
   WHERE {_findable(kind, "s.id")}
   ORDER BY s.score DESC, s.id LIMIT $4
)"""


_COMPARED: Final = "c.document_id, c.id AS chunk_id, c.level, c.speaker IS NOT NULL AS spoken, c.end_index AS length"


def _nearest_chunks(serving: Serving, findable: str, when: str) -> str:
    """Write the chunks nearest to the question: of all vectors, or of some hundred that the index gives."""
    condition, distance = _vector(serving)
    source = f"SELECT v.text_digest, {distance} + 0 AS distance FROM vectors v WHERE {condition} AND {when}"
    if serving.many:
        source = "SELECT text_digest, distance FROM nearest_vectors"
    return f"""
  SELECT {_COMPARED}, 1 - v.distance AS similarity
    FROM ({source} ORDER BY distance, text_digest OFFSET 0) AS v
   CROSS JOIN LATERAL (
         SELECT id, document_id, level, speaker, end_index, language FROM chunks
          WHERE workspace_id = $1 AND text_digest = v.text_digest OFFSET 0) AS c
   WHERE {learned(serving, "c.language")} AND {findable}
   ORDER BY v.distance, v.text_digest LIMIT {_VECTORS_EACH} * $4"""


def _chosen_chunks(serving: Serving) -> str:
    """Write the chunks of the few documents that filters leave, each compared with the question."""
    condition, distance = _vector(serving)
    return f"""
  SELECT {_COMPARED}, 1 - {distance} + 0 AS similarity
    FROM chosen_chunks c
   CROSS JOIN LATERAL (
         SELECT embedding FROM vectors v WHERE {condition} AND v.text_digest = c.text_digest OFFSET 0) AS v
   WHERE {learned(serving, "c.language")}"""


def _compared(serving: Serving, *, filtered: bool) -> str:
    """Write the chunks that are compared, with their similarity."""
    if filtered:
        most, when = 4_000, _BROAD  # of the vectors that the index gives filters leave a part
        nearest = f"({_nearest_chunks(serving, _CHOSEN_BY_FILTERS, when)}) UNION ALL ({_chosen_chunks(serving)})"
    else:
        most, when = 400, "true"
        nearest = _nearest_chunks(serving, _NOT_IN_TRASH, when)
    walked = nearest_vectors(serving, "$5", "$6", most, when) if serving.many else ""
    return f"{walked}\ncompared AS MATERIALIZED ({nearest})"


# Passages that are not among the nearest are no nearer than the last of these.
_HAS_PASSAGES: Final = """(
         SELECT true FROM chunks
          WHERE workspace_id = $1 AND document_id = n.id AND level = 'paragraph' LIMIT 1)"""
_FARTHEST: Final = "(SELECT min(similarity) FROM compared)"


def _document_near(serving: Serving, *, filtered: bool) -> str:
    """Write a ranking by cosine: a document's is the mean of its own and its nearest passage's, unless it is long."""
    condition, distance = _vector(serving)
    return f"""{_compared(serving, filtered=filtered)}, nearest_documents AS MATERIALIZED (
  SELECT id, nearest + (coalesce(begins, nearest) - nearest) * least(1, {_READ} / greatest(length, 1)) / 2 AS score
    FROM (SELECT n.id, coalesce(n.begins, whole.similarity) AS begins, greatest(n.length, whole.length) AS length,
                 coalesce(n.nearest, CASE WHEN {_HAS_PASSAGES} THEN {_FARTHEST} ELSE n.begins END) AS nearest
            FROM (SELECT document_id AS id, max(similarity) FILTER (WHERE level = 'document') AS begins,
                         max(similarity) FILTER (WHERE level = 'paragraph') AS nearest, max(length) AS length
                    FROM compared GROUP BY document_id) AS n
            LEFT JOIN LATERAL (
                 SELECT 1 - {distance} + 0 AS similarity, c.length
                   FROM (SELECT text_digest, end_index AS length FROM chunks
                          WHERE workspace_id = $1 AND document_id = n.id AND level = 'document' AND n.begins IS NULL
                         OFFSET 0) AS c
                  CROSS JOIN LATERAL (
                        SELECT embedding FROM vectors v
                         WHERE {condition} AND v.text_digest = c.text_digest OFFSET 0) AS v) AS whole ON true) AS every
   ORDER BY score DESC, id LIMIT $4
), nearest_passages AS MATERIALIZED (
  SELECT DISTINCT ON (document_id) document_id, chunk_id, spoken
    FROM compared WHERE level = 'paragraph' AND (document_id IN (SELECT id FROM nearest_documents)) IS TRUE
   ORDER BY document_id, similarity DESC, chunk_id
), document_near AS MATERIALIZED (
  SELECT n.id, n.score, p.chunk_id AS passage, p.spoken
    FROM nearest_documents n LEFT JOIN nearest_passages p ON p.document_id = n.id
)"""


# What filters leave, with its chunks where it is little: then these are compared. Where it is much, what is found is
# filtered; of the vectors that the approximate index gives at least an eighth must be left, or few would be.
_CHOSEN: Final = f"""
chosen_documents AS MATERIALIZED (
  SELECT x.id FROM documents x WHERE x.workspace_id = $1 AND x.deleted_at IS NULL AND {_TAGGED}
), chosen AS MATERIALIZED (
  SELECT count(*) > 500 AND count(*) * 8 > (
           SELECT sum(chunks) FROM index_statistics WHERE workspace_id = $1 AND level = 'document') AS broad
    FROM chosen_documents
), chosen_chunks AS MATERIALIZED (
  SELECT c.*
    FROM chosen_documents d
   CROSS JOIN LATERAL (
         SELECT id, document_id, level, speaker, end_index, language, text_digest FROM chunks
          WHERE workspace_id = $1 AND document_id = d.id AND level IN ('document', 'paragraph') OFFSET 0) AS c
   WHERE NOT (SELECT broad FROM chosen)
)"""
_BROAD: Final = "(SELECT broad FROM chosen)"
_SCORED_CHOSEN: Final = f"""
{_scored("'document'", ITEM_SCORE, "ARRAY(SELECT id FROM chosen_chunks WHERE level = 'document')", f"NOT {_BROAD}")}
 UNION ALL {_scored("'document'", ITEM_SCORE, when=_BROAD)}"""


def _nothing_near(kind: str) -> str:
    return f"""
{kind}_near AS (SELECT NULL::uuid AS id, NULL::float8 AS score, NULL::uuid AS passage, false AS spoken WHERE false)"""


def bound(kind: str) -> str:
    """Write the score of words that no item can exceed."""
    # A query is read in several languages. Where it is read wrongly no stop word is known and all words are rare: the
    # least bound is that of its own language.
    return f"""(
       SELECT min(whole)
         FROM (SELECT sum(value) AS whole FROM terms WHERE level = '{kind}' AND major GROUP BY language) AS every)"""


def counted(kind: str) -> str:
    """Write what a search is over, and how many of these are not indexed as they are now."""
    tagged = _TAGGED if kind == "document" else "true"
    return f"""
SELECT count(*) AS total, count(*) FILTER (WHERE x.indexed_revision < x.revision) AS pending
  FROM {kind}s x WHERE x.workspace_id = $1 AND {FINDABLE[kind]} AND {tagged}"""


def _ranked(kind: str) -> str:
    """Write the rows of a kind: one that counts, with its bound, and one for each candidate."""
    return f"""
SELECT '{kind}' AS kind, NULL::uuid AS id, NULL::float8 AS words, NULL::float8 AS part, NULL::float8 AS cosine,
       NULL::uuid AS passage, false AS spoken, {bound(kind)} AS bound, counted.total, counted.pending
  FROM ({counted(kind)}) AS counted
UNION ALL
SELECT '{kind}', k.id, w.score, p.score, n.score, coalesce(p.passage, n.passage),
       coalesce(p.spoken, n.spoken, false), NULL, NULL, NULL
  FROM (SELECT id FROM {kind}_words UNION SELECT id FROM {kind}_near) AS k
  LEFT JOIN {kind}_words w ON w.id = k.id
  LEFT JOIN {kind}_near n ON n.id = k.id
  LEFT JOIN {kind}_passages p ON p.id = k.id"""


def _documents(serving: Serving | None, *, filtered: bool) -> list[str]:
    """Write the parts that rank documents: from the best on, or, where filters leave little, all of it."""
    if filtered:
        words = [_CHOSEN, document_words(_CHOSEN_BY_FILTERS, _SCORED_CHOSEN)]
    else:
        words = [document_words(_NOT_IN_TRASH)]
    near = _nothing_near("document") if serving is None else _document_near(serving, filtered=filtered)
    return [*words, _DOCUMENT_PASSAGES, near]


@lru_cache(maxsize=200)
def _ranking(kinds: tuple[str, ...], serving: Serving | None, *, filtered: bool) -> str:
    """Write the first statement for some kinds, without a model by words alone.

    Dimension and slot stand in it as literals, as in the indexes.
    """
    parts = [terms(",".join(LEVELS[kind] for kind in kinds))]
    for kind in kinds:
        if kind == "document":
            parts.extend(_documents(serving, filtered=filtered))
        else:
            parts.extend([_item_words(kind), _nothing_near(kind) if serving is None else _item_near(kind, serving)])
    return f"WITH {','.join(parts)} {' UNION ALL '.join(_ranked(kind) for kind in kinds)}"


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
    each candidate: `words` and `part` (BM25 of the item, and of its best passage), `cosine`, `passage`, and
    whether that is `spoken`: a turn of a conversation. Only a large
    workspace that is searched without a filter is asked approximately.
    """
    near = () if vector is None else (HalfVector(vector), serving.model)
    filtered = bool(tags) or tx.reach != EVERYTHING
    sql = _ranking(tuple(kinds), None if vector is None else serving, filtered=filtered)
    found: dict[str, list[asyncpg.Record]] = {kind: [] for kind in kinds}
    for row in await tx.fetch(sql, tx.workspace_id, text, tags, candidates, *near):
        found[row["kind"]].append(row)
    return found
