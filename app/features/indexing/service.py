"""Brings documents' chunks, postings and vectors up to date, in steps that each commit and may be repeated."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from typing import TYPE_CHECKING

from app.features.indexing import queries
from app.features.indexing.claims import queries as claims
from app.features.indexing.items.service import index_items
from app.features.indexing.remote import Embedder, EmbeddingFailed, Vector, native, unlearned
from app.features.indexing.serving import Embedders, Serving
from app.features.indexing.slots import queries as slots
from app.features.indexing.slots.queries import learned, nearest_vectors
from app.kit.language import detect
from app.kit.markdown import Level, chunk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from uuid import UUID

    from app.features.indexing.claims.queries import Claimed
    from app.kit.markdown import Chunk
    from app.store.postgres import Database
    from app.store.tx import Tx

__all__ = [
    "Embedder",
    "Embedders",
    "Serving",
    "Vector",
    "forget",
    "index_workspace",
    "learned",
    "native",
    "nearest_vectors",
    "unlearned",
]

log = logging.getLogger(__name__)

CLAIM_DOCUMENTS = 4
"""Few, since nothing is embedded while the first documents of a claim are cut into passages."""

CLAIM_SECONDS = 30
WORK_SECONDS = 2.0
"""After this long a workspace goes behind the others."""

MAX_ATTEMPTS = 5
_SUSPECT_FROM = 2
_SUSPECTS = asyncio.Lock()
"""After so many starts a document may be what ends its workers. A worker takes one such document at a time, or those
it takes along would be charged for the end of the worker as often as the culprit."""

_EMBED_BATCH = 16
"""Small, since all batches wait in one line for the model: other workspaces and the end of the process wait too."""

_EMBED_CHARACTERS = 8_192
_MODEL_SECONDS = 30
"""How long documents wait before a model that failed is asked again."""

_ROWS = 500
_EXHAUSTED = f"Indexing was started {MAX_ATTEMPTS} times and never ended well; change the document to try again."


class _MovedOn(Exception):
    """The document has a newer revision: whoever claims that one will do the work."""


async def index_workspace(database: Database, embedder: Embedder | Embedders, workspace_id: UUID) -> bool:
    """Work on a workspace's index for about two seconds; True when more may be left to do.

    Lanes work side by side: while one embeds, the others read and write. One goes by age, one by length, so that a note
    does not wait for books. Prompts and collections have one of their own.
    """
    embedders = Embedders.of(embedder)
    lanes = [_lane(database, embedders, workspace_id, shortest=shortest) for shortest in (False, True)]
    items = index_items(database, embedders, workspace_id, WORK_SECONDS)
    results = await asyncio.gather(*lanes, items, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return any(results)


async def _lane(database: Database, embedders: Embedders, workspace_id: UUID, *, shortest: bool) -> bool:
    deadline = time.monotonic() + WORK_SECONDS
    claimed = await _claim(database, workspace_id, shortest=shortest)
    if not claimed:
        return await _take_suspect(database, embedders, workspace_id)
    while claimed:
        await _work_on(database, embedders, workspace_id, claimed, deadline)
        claimed = await _claim(database, workspace_id, shortest=shortest) if time.monotonic() < deadline else []
    return True


async def _take_suspect(database: Database, embedders: Embedders, workspace_id: UUID) -> bool:
    async with _SUSPECTS:
        claimed = await _claim_suspect(database, workspace_id)
        if claimed:
            await _work_on(database, embedders, workspace_id, claimed, time.monotonic() + WORK_SECONDS)
    return bool(claimed)


async def _work_on(
    database: Database, embedders: Embedders, workspace_id: UUID, claimed: Sequence[Claimed], deadline: float
) -> None:
    try:
        async with _kept(database, workspace_id, claimed):
            live, untouched = await _chunk_until(database, workspace_id, claimed, deadline)
            done = await _embed_until(database, embedders, workspace_id, live, deadline)
    except EmbeddingFailed as error:
        await _wait(database, workspace_id, claimed, str(error))
        return
    except BaseException as error:
        blameless = not isinstance(error, Exception)  # the worker was told to stop
        await asyncio.shield(_release(database, workspace_id, claimed, blameless=blameless))
        raise
    left = [item for item in live if item.id not in done]
    await _release(database, workspace_id, [*left, *untouched])


async def _wait(database: Database, workspace_id: UUID, claimed: Sequence[Claimed], why: str) -> None:
    """Let documents wait whose model gives no vectors; by their words they are found already."""
    log.warning("documents wait for their vectors: %s", why)
    reason = f"Found by its words alone until the embedding model answers ({why})."
    async with database.tx(workspace_id) as tx:
        await slots.update_waiting(tx, [item.id for item in claimed], reason, _MODEL_SECONDS)


@contextlib.asynccontextmanager
async def _kept(database: Database, workspace_id: UUID, claimed: Sequence[Claimed]) -> AsyncIterator[None]:
    """Renew the claims while the block works: reading ten megabytes of hostile Markdown outlasts a claim."""

    async def renew() -> None:
        while True:
            await asyncio.sleep(CLAIM_SECONDS / 3)
            async with database.tx(workspace_id) as tx:
                await claims.renew_claims(tx, [item.id for item in claimed], CLAIM_SECONDS)

    renewing = asyncio.create_task(renew())
    try:
        yield
    finally:
        renewing.cancel()
        await asyncio.gather(renewing, return_exceptions=True)


async def _claim(database: Database, workspace_id: UUID, *, shortest: bool) -> list[Claimed]:
    attempts = (0, _SUSPECT_FROM - 1)
    async with database.tx(workspace_id) as tx:
        return await claims.claim_documents(
            tx, attempts=attempts, limit=CLAIM_DOCUMENTS, seconds=CLAIM_SECONDS, shortest=shortest
        )


async def _claim_suspect(database: Database, workspace_id: UUID) -> list[Claimed]:
    # No upper bound: what was started too often is given up, except that a deletion must be carried out some day.
    attempts = (_SUSPECT_FROM, 2**31 - 1)
    async with database.tx(workspace_id) as tx:
        await claims.update_exhausted(tx, MAX_ATTEMPTS - 1, _EXHAUSTED)
        return await claims.claim_documents(tx, attempts=attempts, limit=1, seconds=CLAIM_SECONDS, shortest=False)


async def _release(
    database: Database, workspace_id: UUID, claimed: Sequence[Claimed], *, blameless: bool = True
) -> None:
    if claimed:
        async with database.tx(workspace_id) as tx:
            await claims.release_claims(tx, [item.id for item in claimed], blameless=blameless)


async def _chunk_until(
    database: Database, workspace_id: UUID, claimed: Sequence[Claimed], deadline: float
) -> tuple[list[Claimed], Sequence[Claimed]]:
    """Chunk documents, at least one, until the time is up; returns those to embed and those not reached."""
    live: list[Claimed] = []
    for number, item in enumerate(claimed):
        if number and time.monotonic() >= deadline:
            return live, claimed[number:]
        if await _chunked(database, workspace_id, item):
            live.append(item)
    return live, ()


async def _chunked(database: Database, workspace_id: UUID, item: Claimed) -> bool:
    """Bring chunks and postings to the claimed revision; False when nothing is left to embed for it."""
    if item.deleted:
        async with database.tx(workspace_id) as tx:
            forgotten = await forget(tx, item.id)
        if forgotten is None:
            await _release(database, workspace_id, [item])
        return False
    if item.chunked_revision == item.revision:
        return True
    async with database.snapshot(workspace_id) as snapshot:
        content = await queries.get_content(snapshot, item.content_digest)
    try:
        chunks = await asyncio.to_thread(chunk, item.id, item.title, content)
    except Exception as error:  # the same text would fail again, so it is not tried again
        log.exception("document cannot be chunked", extra={"document": str(item.id)})
        async with database.tx(workspace_id) as tx:
            reason = f"The text cannot be read as Markdown ({type(error).__name__})."
            await queries.update_failed(tx, item.id, item.revision, reason)
        return False
    return await _replace_chunks(database, workspace_id, item, detect(f"{item.title}\n{content}"), chunks)


async def _replace_chunks(
    database: Database, workspace_id: UUID, item: Claimed, language: str, chunks: list[Chunk]
) -> bool:
    try:
        async with database.tx(workspace_id) as tx:
            await queries.lock_document(tx, item.id)
            await _write_chunks(tx, item, language, chunks)
            await _note_chunked(tx, item, language)
    except _MovedOn:
        await _release(database, workspace_id, [item])
        return False
    return True


async def _note_chunked(tx: Tx, item: Claimed, language: str) -> None:
    if not await queries.update_chunked_if_current(tx, item, language):
        raise _MovedOn


async def _write_chunks(tx: Tx, item: Claimed, language: str, chunks: list[Chunk]) -> None:
    existing = await queries.list_chunk_ids(tx, item.id)
    document, tally = chunks[0], queries.Tally()
    gone = existing - {entry.id for entry in chunks}
    if gone:
        await queries.retire_chunks(tx, item.id, list(gone))
        await queries.delete_chunks(tx, list(gone), tally)
    kept = existing - gone
    if item.chunked_revision and item.language == language:  # else every term is read again
        kept &= {document.id}  # its terms follow the whole title, its id only the indexed part of it
    if kept:
        await queries.delete_postings(tx, list(kept), tally)
    for start in range(0, len(chunks), _ROWS):
        await queries.put_chunks(tx, item, language, chunks[start : start + _ROWS])
    unread = {entry.id for entry in chunks} - existing | kept
    fresh = [entry for entry in chunks if entry.level is Level.PARAGRAPH and entry.id in unread]
    for start in range(0, len(fresh), _ROWS):
        await queries.put_paragraph_postings(tx, language, fresh[start : start + _ROWS], tally)
    await queries.put_document_postings(tx, item, language, document.id, tally)
    await queries.add_statistics(tx, tally)


async def forget(tx: Tx, document_id: UUID) -> dict[str, int] | None:
    """Take a deleted document out of the index; counts what went, None when it is not deleted (any more)."""
    tally = queries.Tally()
    await queries.lock_document(tx, document_id)
    if not await queries.update_unchunked(tx, document_id):  # it is held from here on: nobody restores it meanwhile
        return None
    await queries.delete_retired(tx, document_id)
    chunks = await queries.list_chunk_ids(tx, document_id)
    vectors = await queries.delete_chunks(tx, list(chunks), tally)
    await queries.add_statistics(tx, tally)
    return {"chunks": len(chunks), "postings": -tally.postings, "vectors": vectors}


async def _embed_until(
    database: Database, embedders: Embedders, workspace_id: UUID, claimed: Sequence[Claimed], deadline: float
) -> set[UUID]:
    """Embed texts of documents, one batch at least, until the time is up; returns the documents that became ready."""
    ids = [item.id for item in claimed]
    while ids:
        async with database.snapshot(workspace_id) as snapshot:
            place, embedder = await embedders.writing(snapshot)
            rows = await queries.list_missing_texts(snapshot, ids, place, _EMBED_BATCH, _EMBED_CHARACTERS)
        if not rows:
            break
        vectors = await embedder.embed([row["body"] for row in rows])
        async with database.tx(workspace_id) as tx:
            digests = [row["text_digest"] for row in rows]
            await slots.put_vectors(tx, place.slot, place.model, place.dim, digests, vectors)
            await claims.renew_claims(tx, ids, CLAIM_SECONDS)
        if time.monotonic() >= deadline:
            break
    async with database.tx(workspace_id) as tx:
        place, _ = await embedders.writing(tx)
        return await queries.update_ready(tx, claimed, place)
