"""SQL of search as of a time: what documents were then, and the words of texts that are in no index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from app.features.search.ranking.queries import (
    CANDIDATES,
    ITEM_SCORE,
    LEVELS,
    PASSAGE_SCORE,
    bound,
    document_words,
    terms,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    import asyncpg

    from app.store.tx import Tx


class Piece(NamedTuple):
    """A text that counts so many times for a part of a document: for the whole (level `document`), or a passage."""

    document_id: UUID
    part: UUID
    level: str
    language: str
    body: str
    times: int


# Documents that existed then, with what they were: the same revision that reading one as of then gives. Of those whose
# words the index has as they are in another revision it cannot say whether they match. What an import kept in part
# cannot be found: it is counted (`partial`).
_THEN: Final = """
existing AS MATERIALIZED (
  SELECT d.id, d.status, d.created_at, d.chunked_revision <> r.revision AS changed, r.revision, r.title,
         r.tags, r.content_digest, r.decided_at
    FROM documents d
   CROSS JOIN LATERAL (
         SELECT revision, title, tags, content_digest, decided_at FROM document_revisions
          WHERE workspace_id = $1 AND document_id = d.id AND decided_at <= $5
          ORDER BY revision DESC LIMIT 1) AS r
   WHERE d.workspace_id = $1 AND d.deleted_at IS NULL AND (r.tags IS NULL OR r.tags @> $3::text[])
), live_documents AS MATERIALIZED (
  SELECT * FROM existing WHERE title IS NOT NULL AND tags IS NOT NULL AND content_digest IS NOT NULL
)"""
_TOTAL: Final = """(SELECT count(*) FROM live_documents) AS total,
               (SELECT count(*) FROM existing) - (SELECT count(*) FROM live_documents) AS partial"""
_CONTENT: Final = """
         SELECT content FROM contents WHERE workspace_id = $1 AND digest = x.content_digest OFFSET 0"""

_WORDS: Final = document_words("(c.document_id IN (SELECT id FROM live_documents)) IS TRUE")
_LIST: Final = f"""
WITH {terms("document")},{_THEN},{_WORDS}, able AS MATERIALIZED (
  SELECT x.*, w.score
    FROM live_documents x LEFT JOIN document_words w ON w.id = x.id
   WHERE x.changed OR w.id IS NOT NULL
)
SELECT n.total, n.partial, n.able, x.id, x.title, x.status, x.revision, x.content_digest,
       octet_length(t.content) AS size, document_trust(d, x.revision, $7) AS trust
  FROM (SELECT {_TOTAL},
               CASE WHEN (SELECT count(*) FROM document_words) < $4 THEN (SELECT count(*) FROM able)
                    ELSE (SELECT count(*) FROM live_documents) END AS able) AS n
  LEFT JOIN (SELECT * FROM able ORDER BY score DESC NULLS LAST, decided_at DESC, id LIMIT $6) AS x ON true
  LEFT JOIN LATERAL ({_CONTENT}) AS t ON true
  LEFT JOIN documents d ON d.workspace_id = $1 AND d.id = x.id
 ORDER BY x.score DESC NULLS LAST, x.decided_at DESC, x.id
"""

_TEXTS: Final = "SELECT digest, content FROM contents WHERE workspace_id = $1 AND digest = ANY($2)"


def _scores(condition: str, score: str) -> str:
    """Write the scores of texts that are in no index: each part's terms are counted as the index counts them."""
    return f"""
SELECT p.id, p.part, {score} AS score
  FROM (SELECT id, part, level, language, term, sum(tf)::int AS tf,
               (sum(sum(tf)) OVER (PARTITION BY id, part))::int AS length
          FROM (SELECT t.id, t.part, t.level, t.language, l.term, l.tf * t.times AS tf
                  FROM texts t CROSS JOIN LATERAL search_terms(t.language, t.body) AS l WHERE {condition}) AS every
         GROUP BY id, part, level, language, term) AS p
  JOIN terms ON terms.level = p.level AND terms.language = p.language AND terms.term = p.term
 GROUP BY p.id, p.part"""


# A text is read in a language in which the query is read too, and a passage counts as one of documents where the index
# has none of its level: of what is long gone it may know neither.
_RANKED: Final = f"""
WITH {terms(LEVELS["document"])}, known AS MATERIALIZED (
  SELECT DISTINCT level, language FROM terms
), texts AS MATERIALIZED (
  SELECT t.id, t.part, t.body, t.times, t.level = 'document' AS whole, k.level, k.language
    FROM unnest($3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::int[])
         AS t(id, part, level, language, body, times)
   CROSS JOIN LATERAL (
         SELECT level, language FROM known
          ORDER BY level = t.level DESC, level = 'document' DESC, language = t.language DESC, language
          LIMIT 1) AS k
), document_words AS MATERIALIZED ({_scores("t.whole", ITEM_SCORE)}
), document_passages AS MATERIALIZED (
  SELECT DISTINCT ON (id) id, part AS passage, score
    FROM ({_scores("NOT t.whole AND (t.id IN (SELECT id FROM document_words)) IS TRUE", PASSAGE_SCORE)}) AS s
   ORDER BY id, score DESC, part
)
SELECT NULL::uuid AS id, NULL::float8 AS words, NULL::float8 AS part, NULL::float8 AS cosine, NULL::uuid AS passage,
       false AS spoken, {bound("document")} AS bound
UNION ALL
SELECT w.id, w.score, p.score, NULL, p.passage, false, NULL
  FROM document_words w LEFT JOIN document_passages p ON p.id = w.id
"""

# The same order and excerpt as in the search of now, which is a function for the sake of other kinds.
_LITERAL: Final = f"""
WITH {_THEN}, placed AS MATERIALIZED (
  SELECT x.id, x.title, x.status, x.revision, x.created_at, literal_place($2, x.title) AS named, t.content,
         literal_place($2, t.content) AS place
    FROM live_documents x CROSS JOIN LATERAL ({_CONTENT}) AS t
)
SELECT n.total, n.partial, x.id, x.title, x.status, x.revision, NULL AS score, NULL AS chunk_id,
       substr(x.content, greatest(x.place - 80, 1), 80 + length($2) + 120) AS highlight,
       document_trust(d, x.revision, $6) AS trust
  FROM (SELECT {_TOTAL}) AS n
  LEFT JOIN (SELECT * FROM placed WHERE named > 0 OR place > 0
              ORDER BY (named > 0) DESC, created_at DESC, id LIMIT $4) AS x ON true
  LEFT JOIN documents d ON d.workspace_id = $1 AND d.id = x.id
 ORDER BY (x.named > 0) DESC, x.created_at DESC, x.id
"""


async def list_candidates(
    tx: Tx, text: str, tags: list[str], at: datetime, most: int, reader: UUID
) -> list[asyncpg.Record]:
    """List documents that existed at a time, first those that the words rank now, then those changed since then.

    At least one row: each says how many existed (`total`), how many of them may have had the words (`able`), and of how
    many more an import kept a part (`partial`).
    """
    return await tx.fetch(_LIST, tx.workspace_id, text, tags, CANDIDATES, at, most, reader)


async def read_texts(tx: Tx, digests: Sequence[bytes]) -> dict[bytes, str]:
    """Read texts by their digests."""
    return {row["digest"]: row["content"] for row in await tx.fetch(_TEXTS, tx.workspace_id, digests)}


async def rank_texts(tx: Tx, text: str, pieces: Sequence[Piece]) -> list[asyncpg.Record]:
    """Rank documents by the words of their pieces, which are in no index; the rows are as a search of now has them."""
    columns = [list(column) for column in zip(*pieces, strict=True)] or [[]] * len(Piece._fields)
    return await tx.fetch(_RANKED, tx.workspace_id, text, *columns)


async def find_literally(
    tx: Tx, text: str, tags: list[str], at: datetime, limit: int, reader: UUID
) -> list[asyncpg.Record]:
    """Find documents that held a text at a time, at least one row: each has `total` and `partial`."""
    return await tx.fetch(_LITERAL, tx.workspace_id, text, tags, limit, at, reader)
