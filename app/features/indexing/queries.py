"""SQL of the search index."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pydantic_core

from app.kit.markdown import Level
from app.store.tx import count_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    import asyncpg

    from app.features.indexing.claims.queries import Claimed
    from app.features.indexing.serving import Serving
    from app.kit.markdown import Chunk
    from app.store.tx import Tx

_CONTENT = "SELECT content FROM contents WHERE workspace_id = $1 AND digest = $2"

_FAIL = """
UPDATE documents SET status = 'failed', status_reason = $4, indexed_revision = $3, index_claimed_until = NULL
 WHERE workspace_id = $1 AND id = $2 AND revision = $3 AND deleted_at IS NULL
"""

_CHUNKED = """
UPDATE documents SET chunked_revision = $3, language = $4
 WHERE workspace_id = $1 AND id = $2 AND revision = $3 AND deleted_at IS NULL
RETURNING true
"""

_UNCHUNKED = """
UPDATE documents SET chunked_revision = 0, indexed_revision = 0, index_claimed_until = NULL, index_attempts = 0
 WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NOT NULL
RETURNING true
"""

# Whether a chunk's text lacks its vector is asked of each chunk by itself: as a join, the planner may compare all
# chunks of the workspace with all its vectors, for every batch.
UNEMBEDDED = """
NOT coalesce((SELECT true FROM vectors v
               WHERE v.workspace_id = $1 AND v.text_digest = c.text_digest AND v.slot = {slot} AND v.model = {model}
               LIMIT 1), false)
"""

# Documents all of whose texts have a vector of the serving model are ready, unless they moved on meanwhile.
_READY = f"""
WITH unready AS MATERIALIZED (
  SELECT DISTINCT c.document_id
    FROM chunks c
   WHERE c.workspace_id = $1 AND c.document_id = ANY($2::uuid[]) AND c.level IN ('document', 'paragraph')
     AND {UNEMBEDDED.format(slot="$4", model="$5")})
UPDATE documents d
   SET status = 'ready', status_reason = NULL, indexed_revision = r.revision, index_claimed_until = NULL,
       index_attempts = 0
  FROM unnest($2::uuid[], $3::int[]) AS r(id, revision)
 WHERE d.workspace_id = $1 AND d.id = r.id AND d.revision = r.revision AND d.chunked_revision = r.revision
   AND d.deleted_at IS NULL AND NOT EXISTS (SELECT FROM unready u WHERE u.document_id = d.id)
RETURNING d.id
"""

_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended($1::text, 0))"

_CHUNK_IDS = "SELECT id FROM chunks WHERE workspace_id = $1 AND document_id = $2"

# Every statement that changes postings counts what it changed, so that the statistics never need a second read.
COUNTED = """
SELECT language, level, count(DISTINCT chunk_id) AS chunks, sum(tf)::bigint AS length, count(*) AS postings
  FROM changed GROUP BY language, level
"""

_DELETE_POSTINGS = f"""
WITH changed AS (
  DELETE FROM postings WHERE workspace_id = $1 AND chunk_id = ANY($2) RETURNING language, level, chunk_id, tf)
{COUNTED}
"""

# Kept for a month, and swept at the document's next edit.
_RETIRE = """
INSERT INTO retired_chunks (workspace_id, id, document_id, revision, level, ordinal, section_path, start_index,
                            end_index, retired_at)
SELECT workspace_id, id, document_id, revision, level, ordinal, section_path, start_index, end_index, clock_timestamp()
  FROM chunks WHERE workspace_id = $1 AND id = ANY($2)
ON CONFLICT (workspace_id, id) DO UPDATE
   SET revision = excluded.revision, ordinal = excluded.ordinal, section_path = excluded.section_path,
       start_index = excluded.start_index, end_index = excluded.end_index, retired_at = excluded.retired_at
"""

_DELETE_RETIRED = """
DELETE FROM retired_chunks
 WHERE workspace_id = $1 AND document_id = $2 AND retired_at <= clock_timestamp() - $3 * interval '1 day'
"""
_RETIRED_DAYS = 30

_DELETE_CHUNKS = "DELETE FROM chunks WHERE workspace_id = $1 AND id = ANY($2) RETURNING text_digest"

_DELETE_ORPHAN_VECTORS = """
DELETE FROM vectors v
 WHERE v.workspace_id = $1 AND v.text_digest = ANY($2)
   AND NOT EXISTS (SELECT FROM chunks c WHERE c.workspace_id = $1 AND c.text_digest = v.text_digest)
   AND NOT EXISTS (SELECT FROM index_entries e WHERE e.workspace_id = $1 AND e.text_digest = v.text_digest)
"""

_PUT_CHUNKS = """
INSERT INTO chunks (workspace_id, document_id, revision, language, id, level, ordinal, parent_id, section_path, heading,
                    header, content, start_index, end_index, word_count, text_digest, speaker)
SELECT $1, $2, $3, $4, id, level, ordinal, parent_id, ARRAY(SELECT jsonb_array_elements_text(path::jsonb)), heading,
       header, content, start_index, end_index, word_count, text_digest, speaker
  FROM unnest($5::uuid[], $6::text[], $7::int[], $8::uuid[], $9::text[], $10::text[], $11::text[], $12::text[],
              $13::int[], $14::int[], $15::int[], $16::bytea[], $17::text[])
    AS t(id, level, ordinal, parent_id, path, heading, header, content, start_index, end_index, word_count,
         text_digest, speaker)
ON CONFLICT (workspace_id, id) DO UPDATE
   SET revision = excluded.revision, ordinal = excluded.ordinal, parent_id = excluded.parent_id,
       language = excluded.language, start_index = excluded.start_index, end_index = excluded.end_index
"""

# A turn of a conversation has a level of its own, since its terms weigh otherwise; who speaks counts four times.
_PUT_POSTINGS = f"""
WITH changed AS (
  INSERT INTO postings (workspace_id, level, language, term, chunk_id, tf, length)
  SELECT $1, level, $2::text, term, id, tf, sum(tf) OVER (PARTITION BY id)
    FROM (SELECT t.id, CASE WHEN t.speaker IS NULL THEN 'paragraph' ELSE 'turn' END AS level, l.term,
                 sum(l.tf)::int AS tf
            FROM unnest($3::uuid[], $4::text[], $5::text[]) AS t(id, body, speaker)
           CROSS JOIN LATERAL (
                 SELECT term, tf FROM search_terms($2, t.body)
                 UNION ALL
                 SELECT term, 3 * tf FROM search_terms($2, t.speaker)) AS l
           GROUP BY t.id, t.speaker, l.term) AS counted
  RETURNING language, level, chunk_id, tf)
{COUNTED}
"""

# A document's terms are those of its paragraphs and headings, and its title's twice.
_PUT_DOCUMENT_POSTINGS = f"""
WITH changed AS (
  INSERT INTO postings (workspace_id, level, language, term, chunk_id, tf, length)
  SELECT $1, 'document', $2::text, term, $3, tf, sum(tf) OVER ()
    FROM (SELECT term, sum(tf)::int AS tf
            FROM (SELECT term, 2 * tf AS tf FROM search_terms($2, $4)
                  UNION ALL
                  SELECT l.term, l.tf FROM chunks c, search_terms($2, c.content) AS l
                   WHERE c.workspace_id = $1 AND c.document_id = $5 AND c.level = 'paragraph'
                  UNION ALL
                  SELECT l.term, l.tf FROM chunks c, search_terms($2, c.heading) AS l
                   WHERE c.workspace_id = $1 AND c.document_id = $5 AND c.level = 'section'
                     AND c.heading IS NOT NULL) AS every
           GROUP BY term) AS counted
  RETURNING language, level, chunk_id, tf)
{COUNTED}
"""

_ADD_STATISTICS = """
INSERT INTO index_statistics AS s (workspace_id, language, level, chunks, length)
SELECT $1, language, level, chunks, length
  FROM unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[]) AS t(language, level, chunks, length)
 ORDER BY language, level
ON CONFLICT (workspace_id, language, level) DO UPDATE
   SET chunks = s.chunks + excluded.chunks, length = s.length + excluded.length
"""

_MISSING = f"""
SELECT text_digest, min(CASE WHEN c.level = 'document'
                             THEN c.header || E'\\n' || left(t.content, $6)
                             ELSE c.header || E'\\n' || c.content END) AS body
  FROM chunks c
  JOIN documents d ON d.workspace_id = c.workspace_id AND d.id = c.document_id
  JOIN contents t ON t.workspace_id = d.workspace_id AND t.digest = d.content_digest
 WHERE c.workspace_id = $1 AND c.document_id = ANY($2) AND c.level IN ('document', 'paragraph')
   AND d.chunked_revision = d.revision AND d.deleted_at IS NULL
   AND {UNEMBEDDED.format(slot="$3", model="$4")}
 GROUP BY text_digest
 ORDER BY min(array_position($2::uuid[], c.document_id)), text_digest
 LIMIT $5
"""


@dataclass(slots=True)
class Tally:
    """What a transaction changed in the statistics, by language and level."""

    chunks: Counter[tuple[str, str]] = field(default_factory=Counter)
    length: Counter[tuple[str, str]] = field(default_factory=Counter)
    postings: int = 0

    def add(self, rows: Sequence[asyncpg.Record], sign: int = 1) -> None:
        """Add what a statement counted."""
        for row in rows:
            key = row["language"], row["level"]
            self.chunks[key] += sign * row["chunks"]
            self.length[key] += sign * row["length"]
            self.postings += sign * row["postings"]


async def get_content(tx: Tx, digest: bytes) -> str:
    """Read a text by its digest."""
    content: str = await tx.fetchval(_CONTENT, tx.workspace_id, digest)
    return content


async def update_failed(tx: Tx, document_id: UUID, revision: int, reason: str) -> None:
    """Mark a revision as one that cannot be indexed, with the reason."""
    await tx.execute(_FAIL, tx.workspace_id, document_id, revision, reason)


async def lock_document(tx: Tx, document_id: UUID) -> None:
    """Let one worker at a time replace a document's chunks, without holding up its writers."""
    await tx.execute(_LOCK, str(document_id))


async def list_chunk_ids(tx: Tx, document_id: UUID) -> set[UUID]:
    """List the chunks that a document has now."""
    return {row["id"] for row in await tx.fetch(_CHUNK_IDS, tx.workspace_id, document_id)}


async def delete_postings(tx: Tx, ids: Sequence[UUID], tally: Tally) -> None:
    """Delete the terms of chunks."""
    tally.add(await tx.fetch(_DELETE_POSTINGS, tx.workspace_id, ids), -1)


async def delete_chunks(tx: Tx, ids: Sequence[UUID], tally: Tally) -> int:
    """Delete chunks with their terms, and vectors that nothing else uses, which are counted."""
    await delete_postings(tx, ids, tally)
    gone = await tx.fetch(_DELETE_CHUNKS, tx.workspace_id, ids)
    return await delete_orphan_vectors(tx, [row["text_digest"] for row in gone])


async def delete_orphan_vectors(tx: Tx, digests: Sequence[bytes]) -> int:
    """Delete those vectors of texts that nothing uses any more, and count them."""
    return count_of(await tx.execute(_DELETE_ORPHAN_VECTORS, tx.workspace_id, digests))


async def retire_chunks(tx: Tx, document_id: UUID, ids: Sequence[UUID]) -> None:
    """Note what chunks were before they are deleted, so that their ids can be answered for another month."""
    await tx.execute(_DELETE_RETIRED, tx.workspace_id, document_id, _RETIRED_DAYS)
    await tx.execute(_RETIRE, tx.workspace_id, ids)


async def delete_retired(tx: Tx, document_id: UUID) -> None:
    """Forget what chunks a document had before."""
    await tx.execute(_DELETE_RETIRED, tx.workspace_id, document_id, 0)


async def put_chunks(tx: Tx, item: Claimed, language: str, chunks: Sequence[Chunk]) -> None:
    """Insert chunks of a document; one that is there already takes its new place."""
    columns: list[list[Any]] = [
        [item.id for item in chunks],
        [item.level.value for item in chunks],
        [item.ordinal for item in chunks],
        [item.parent_id for item in chunks],
        [pydantic_core.to_json(item.section_path).decode() for item in chunks],
        [item.heading for item in chunks],
        [item.header for item in chunks],
        [item.content if item.level is Level.PARAGRAPH else "" for item in chunks],
        [item.start for item in chunks],
        [item.end for item in chunks],
        [item.word_count for item in chunks],
        [item.text_digest for item in chunks],
        [item.speaker for item in chunks],
    ]
    await tx.execute(_PUT_CHUNKS, tx.workspace_id, item.id, item.revision, language, *columns)


async def put_paragraph_postings(tx: Tx, language: str, chunks: Sequence[Chunk], tally: Tally) -> None:
    """Insert the terms of new paragraphs."""
    ids, texts = [item.id for item in chunks], [item.indexed_text for item in chunks]
    speakers = [item.speaker for item in chunks]
    tally.add(await tx.fetch(_PUT_POSTINGS, tx.workspace_id, language, ids, texts, speakers))


async def put_document_postings(tx: Tx, item: Claimed, language: str, chunk_id: UUID, tally: Tally) -> None:
    """Insert the terms of a whole document."""
    args = (tx.workspace_id, language, chunk_id, item.title, item.id)
    tally.add(await tx.fetch(_PUT_DOCUMENT_POSTINGS, *args))


async def add_statistics(tx: Tx, tally: Tally) -> None:
    """Add what changed; last in the transaction, since every indexer of the workspace waits here."""
    keys = list(tally.chunks)
    languages, levels = [key[0] for key in keys], [key[1] for key in keys]
    chunks, length = [tally.chunks[key] for key in keys], [tally.length[key] for key in keys]
    await tx.execute(_ADD_STATISTICS, tx.workspace_id, languages, levels, chunks, length)


async def update_chunked_if_current(tx: Tx, item: Claimed, language: str) -> bool:
    """Note that the chunks are those of a revision, and their language; False when the document moved on."""
    return await tx.fetchval(_CHUNKED, tx.workspace_id, item.id, item.revision, language) is not None


async def update_unchunked(tx: Tx, document_id: UUID) -> bool:
    """Note that a deleted document is out of the index; False when it is not deleted."""
    return await tx.fetchval(_UNCHUNKED, tx.workspace_id, document_id) is not None


async def list_missing_texts(
    tx: Tx, ids: Sequence[UUID], place: Serving, limit: int, characters: int
) -> list[asyncpg.Record]:
    """List texts of documents that have no vector of the model yet, those of the first documents first."""
    return await tx.fetch(_MISSING, tx.workspace_id, ids, place.slot, place.model, limit, characters)


async def update_ready(tx: Tx, claimed: Sequence[Claimed], place: Serving) -> set[UUID]:
    """Mark documents as ready that are complete and still at the revision that was indexed."""
    ids, revisions = [item.id for item in claimed], [item.revision for item in claimed]
    return {row["id"] for row in await tx.fetch(_READY, tx.workspace_id, ids, revisions, place.slot, place.model)}
