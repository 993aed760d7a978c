"""SQL of the slots: whose vectors serve, what the other slot lacks, and the change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgvector import HalfVector

from app.features.indexing.queries import UNEMBEDDED
from app.features.indexing.remote import unlearned

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    import asyncpg

    from app.features.indexing.remote import Vector
    from app.features.indexing.serving import Serving
    from app.store.postgres import Database
    from app.store.tx import Tx

_KEPT_SECONDS = 60
"""How long the old slot is kept after the change: other processes may ask it for some seconds."""

_SERVING = """
SELECT m.model, m.dim, m.slot,
       (SELECT coalesce(sum(s.chunks), 0)::bigint FROM index_statistics s
         WHERE s.workspace_id = $1 AND s.level IN ('document', 'paragraph', 'turn')) AS vectors
  FROM vector_models m WHERE m.workspace_id = $1
"""

_BEGIN_SERVING = """
INSERT INTO vector_models (workspace_id, model, dim, slot, changed_at, both_slots)
VALUES ($1, $2, $3, $4, clock_timestamp(), false) ON CONFLICT (workspace_id) DO NOTHING
"""

# A workspace is behind the configured model, or still has the vectors of the one before.
_CHANGING = f"""
SELECT workspace_id FROM vector_models
 WHERE model <> $1 OR (both_slots AND changed_at < clock_timestamp() - interval '{_KEPT_SECONDS} seconds')
"""

_FLIP = """
UPDATE vector_models SET model = $3, dim = $4, slot = 1 - slot, changed_at = clock_timestamp(), both_slots = true
 WHERE workspace_id = $1 AND slot = $2 AND model <> $3 RETURNING true
"""

_SETTLED = f"""
UPDATE vector_models SET both_slots = false
 WHERE workspace_id = $1 AND both_slots AND changed_at < clock_timestamp() - interval '{_KEPT_SECONDS} seconds'
RETURNING slot
"""

_DROP_SLOT = "DELETE FROM vectors WHERE workspace_id = $1 AND slot <> $2"

_PUT_VECTORS = """
INSERT INTO vectors (workspace_id, text_digest, slot, model, dim, embedding)
SELECT $1, digest, $2, $3, $4, embedding FROM unnest($5::bytea[], $6::halfvec[]) AS t(digest, embedding)
ON CONFLICT (workspace_id, text_digest, slot) DO UPDATE
   SET model = excluded.model, dim = excluded.dim, embedding = excluded.embedding
"""

_WAIT = """
UPDATE documents
   SET status = 'pending', status_reason = $3, index_claimed_until = clock_timestamp() + $4 * interval '1 second',
       index_attempts = greatest(index_attempts - 1, 0)
 WHERE workspace_id = $1 AND id = ANY($2) AND deleted_at IS NULL
"""

# In the order of the digests, so that each text is looked at once.
_UNFILLED = f"""
SELECT DISTINCT ON (c.text_digest) c.text_digest,
       CASE WHEN c.level = 'document' THEN c.header || E'\\n' || left(t.content, $6)
            ELSE c.header || E'\\n' || c.content END AS body
  FROM chunks c
  JOIN documents d ON d.workspace_id = c.workspace_id AND d.id = c.document_id
  JOIN contents t ON t.workspace_id = d.workspace_id AND t.digest = d.content_digest
 WHERE c.workspace_id = $1 AND c.text_digest > $4 AND c.level IN ('document', 'paragraph')
   AND d.chunked_revision = d.revision AND d.deleted_at IS NULL
   AND {UNEMBEDDED.format(slot="$2", model="$3")}
 ORDER BY c.text_digest
 LIMIT $5
"""

_BEHIND = f"""
UPDATE documents d SET indexed_revision = 0, status = 'pending'
 WHERE d.workspace_id = $1 AND d.deleted_at IS NULL AND d.status = 'ready' AND d.id IN (
       SELECT c.document_id FROM chunks c
        WHERE c.workspace_id = $1 AND c.level IN ('document', 'paragraph')
          AND {UNEMBEDDED.format(slot="$2", model="$3")})
"""

# Prompts and collections are few: the index reads them again.
_BEHIND_ITEMS = f"""
UPDATE {{kind}}s i SET indexed_revision = 0
 WHERE i.workspace_id = $1 AND i.deleted_at IS NULL AND i.id IN (
       SELECT c.item_id FROM index_entries c
        WHERE c.workspace_id = $1 AND c.kind = '{{kind}}' AND {UNEMBEDDED.format(slot="$2", model="$3")})
"""
_BEHIND_KINDS = [_BEHIND_ITEMS.format(kind=kind) for kind in ("prompt", "collection")]


def learned(serving: Serving, column: str) -> str:
    """Write the condition that a text is in a language of which the serving model has learned something."""
    languages = ", ".join(f"'{language}'" for language in sorted(unlearned(serving.model)))
    return f"{column} NOT IN ({languages})" if languages else "true"


def nearest_vectors(serving: Serving, query: str, model: str, most: int = 400, when: str = "true") -> str:
    """Write a part of a WITH: about so many vectors of the workspace (`$1`) nearest to a query, by the index.

    More are asked for than are shown, since several may be of one document, and the walk goes on while the workspace
    has more: foreign vectors of the partition are passed over. How it is walked is set before the index is opened.
    `query` and `model` are names of parameters, `when` a condition that is the same for all.
    """
    dim = int(serving.dim)
    distance = f"v.embedding::halfvec({dim}) <=> {query}::halfvec({dim})"
    return f"""
nearest_vectors AS MATERIALIZED (
  SELECT v.text_digest, {distance} AS distance
    FROM vectors v
   WHERE v.workspace_id = $1 AND v.slot = {int(serving.slot)} AND v.model = {model} AND v.dim = {dim} AND {when}
     AND (SELECT concat(set_config('hnsw.iterative_scan', 'relaxed_order', true),
                        set_config('hnsw.ef_search', '400', true),
                        set_config('hnsw.max_scan_tuples', '400000', true),
                        set_config('hnsw.scan_mem_multiplier', '8', true))) IS NOT NULL
   ORDER BY {distance} LIMIT {int(most)}
),"""


async def put_vectors(
    tx: Tx, slot: int, model: str, dim: int, digests: Sequence[bytes], vectors: Sequence[Vector]
) -> None:
    """Insert vectors of texts; the first of a workspace decide which model serves it."""
    if digests:
        await tx.execute(_BEGIN_SERVING, tx.workspace_id, model, dim, slot)
    values = [HalfVector(vector) for vector in vectors]  # a bare array would be read as a dimension of the array
    await tx.execute(_PUT_VECTORS, tx.workspace_id, slot, model, dim, digests, values)


async def update_waiting(tx: Tx, ids: Sequence[UUID], reason: str, seconds: int) -> None:
    """Let documents wait for their vectors for a while, and say why; the start does not count."""
    await tx.execute(_WAIT, tx.workspace_id, ids, reason, seconds)


async def get_serving(tx: Tx) -> asyncpg.Record | None:
    """Read whose vectors serve the workspace, and about how many there are; None before the first."""
    return await tx.fetchrow(_SERVING, tx.workspace_id)


async def list_changing_workspaces(database: Database, model: str) -> list[UUID]:
    """List workspaces that another model serves, or that have vectors of the one before."""
    return [row["workspace_id"] for row in await database.system_rows(_CHANGING, model)]


async def list_unfilled(
    tx: Tx, slot: int, model: str, after: bytes, limit: int, characters: int
) -> list[asyncpg.Record]:
    """List texts of the workspace, in the order of their digests, that have no vector of a model in a slot."""
    return await tx.fetch(_UNFILLED, tx.workspace_id, slot, model, after, limit, characters)


async def flip(tx: Tx, slot: int, model: str, dim: int) -> bool:
    """Let the other slot serve; False when somebody else did it."""
    return await tx.fetchval(_FLIP, tx.workspace_id, slot, model, dim) is not None


async def mark_unfilled(tx: Tx, slot: int, model: str) -> None:
    """Note that whatever has no vector of the model is behind."""
    for statement in (_BEHIND, *_BEHIND_KINDS):
        await tx.execute(statement, tx.workspace_id, slot, model)


async def drop_old_slot(tx: Tx) -> None:
    """Remove the vectors of the model that served before, when nobody asks for them any more."""
    slot = await tx.fetchval(_SETTLED, tx.workspace_id)
    if slot is not None:
        await tx.execute(_DROP_SLOT, tx.workspace_id, slot)
