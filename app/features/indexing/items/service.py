"""Brings the index of prompts and collections up to date, a few items in each transaction."""

from __future__ import annotations

import hashlib
import logging
import time
from typing import TYPE_CHECKING

from app.features.indexing import queries
from app.features.indexing.items import queries as items
from app.features.indexing.remote import EmbeddingFailed
from app.features.indexing.slots import queries as slots
from app.kit.language import detect

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from app.features.indexing.items.queries import Pending
    from app.features.indexing.remote import Vector
    from app.features.indexing.serving import Embedders, Serving
    from app.store.postgres import Database
    from app.store.tx import Tx

log = logging.getLogger(__name__)

_BATCH = 16
_CHARACTERS = 8_192


async def index_items(database: Database, embedders: Embedders, workspace_id: UUID, seconds: float) -> bool:
    """Index prompts and collections of a workspace for about so long; True when more may be left to do."""
    deadline = time.monotonic() + seconds
    for kind in items.KINDS:
        while await _batch(database, embedders, workspace_id, kind):
            if time.monotonic() >= deadline:
                return True
    return False


async def forget(tx: Tx, kind: str, ids: Sequence[UUID]) -> dict[str, int]:
    """Take items out of the index; counts what went."""
    tally = queries.Tally()
    gone = await items.forget(tx, kind, ids, tally)
    vectors = await queries.delete_orphan_vectors(tx, gone)
    await queries.add_statistics(tx, tally)
    return {"postings": -tally.postings, "vectors": vectors}


async def _batch(database: Database, embedders: Embedders, workspace_id: UUID, kind: str) -> bool:
    """Index a few items of a kind; False when none was behind."""
    async with database.snapshot(workspace_id) as snapshot:
        pending = await items.list_pending(snapshot, kind, _BATCH, _CHARACTERS)
        place, embedder = await embedders.writing(snapshot)
    live = [item for item in pending if not item.deleted]
    try:
        vectors = await embedder.embed([item.body for item in live])
    except EmbeddingFailed as error:  # what waits is found again by a sweep
        log.warning("prompts and collections wait for their vectors: %s", error)
        return False
    embedded = {item.id: vector for item, vector in zip(live, vectors, strict=True)}
    if pending:
        await _write(database, place, workspace_id, kind, pending, embedded)
    return bool(pending)


async def _write(
    database: Database,
    place: Serving,
    workspace_id: UUID,
    kind: str,
    pending: list[Pending],
    embedded: dict[UUID, Vector],
) -> None:
    tally = queries.Tally()
    async with database.tx(workspace_id) as tx:
        settled = await items.settle(tx, kind, pending)
        gone = await items.forget(tx, kind, list(settled), tally)
        live = [item for item in pending if item.id in settled and not item.deleted]
        digests = {hashlib.sha256(item.body.encode()).digest(): embedded[item.id] for item in live}
        known = sorted(digests)
        vectors = [digests[digest] for digest in known]
        await slots.put_vectors(tx, place.slot, place.model, place.dim, known, vectors)
        ids, languages = [item.id for item in live], [detect(item.body) for item in live]
        hashes = [hashlib.sha256(item.body.encode()).digest() for item in live]
        await items.enter(tx, kind, ids, languages, hashes, tally)
        await queries.delete_orphan_vectors(tx, gone)
        await queries.add_statistics(tx, tally)
