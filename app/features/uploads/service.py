"""Reads waiting files in the worker: a claim, the confined reader, then one transaction that writes the text."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING, Final

from app.features.documents import service as documents
from app.features.uploads import queries
from app.features.uploads.errors import FileTypeUnsupported, FileUnreadable
from app.features.uploads.schemas import Converted, UploadedFile
from app.gate.index import index_job
from app.kit.errors import Unavailable
from app.store import blobs
from app.store.jobs import Job, enqueue_in

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from uuid import UUID

    from app.features.uploads.queries import Waiting
    from app.features.uploads.remote import Converter
    from app.store.postgres import Database
    from app.store.tx import Tx

READING_JOB: Final = "read_files"
WAITING: Final = "The file waits to be read."
_READING: Final = "The file is being read."
_CLAIM_SECONDS: Final = 15
_TURN_SECONDS: Final = 2.0
MAX_STARTS: Final = 3
_EXHAUSTED: Final = (
    f"Reading the file was started {MAX_STARTS} times and never ended; save it anew and upload it again."
)


def reading_job(workspace_id: UUID) -> Job:
    """Ask for the waiting files of a workspace to be read."""
    return Job(READING_JOB, {"workspace": str(workspace_id)}, merges=True)


async def keep_original(tx: Tx, document_id: UUID, file: UploadedFile) -> None:
    """Keep the file that a document, whose text is known, was made from."""
    await queries.put_original(tx, document_id, file)


async def read_files(database: Database, converter: Converter, workspace_id: UUID) -> bool:
    """Read waiting files for a while, one at least; tells whether more may be left."""
    deadline = time.monotonic() + _TURN_SECONDS
    while await _read_next(database, converter, workspace_id):
        if time.monotonic() >= deadline:
            return True
    return False


async def _read_next(database: Database, converter: Converter, workspace_id: UUID) -> bool:
    """Read one file; False when none waits, or too much is being read just now: a sweep asks again."""
    async with database.tx(workspace_id) as tx:
        file = await queries.claim_file(tx, _CLAIM_SECONDS, _READING)
    if file is None:
        return False
    found: Converted | None = None
    try:
        async with _kept(database, workspace_id, file.document_id):
            found, failure = await _converted(database, converter, workspace_id, file)
    except BaseException as error:
        if not isinstance(error, Exception) or isinstance(error, Unavailable):  # not the file's fault
            await asyncio.shield(_release(database, workspace_id, file))
        if isinstance(error, Unavailable):
            return False
        raise
    await _finish(database, workspace_id, file, found, failure)
    return True


async def _converted(
    database: Database, converter: Converter, workspace_id: UUID, file: Waiting
) -> tuple[Converted | None, str | None]:
    """Give the file's text, or why there is none."""
    if file.starts > MAX_STARTS:
        return None, _EXHAUSTED
    async with database.snapshot(workspace_id) as snapshot:
        content = await blobs.get(snapshot, file.digest)
    if not content:
        return None, "The file is gone."
    original = UploadedFile(name=file.name, media_type=file.media_type, content=content)
    try:
        return await converter.convert(workspace_id, original), None
    except (FileTypeUnsupported, FileUnreadable) as error:
        return None, error.message


async def _finish(
    database: Database, workspace_id: UUID, file: Waiting, found: Converted | None, failure: str | None
) -> None:
    """Write the text, unless somebody wrote another meanwhile, and end the wait; nothing happens in the trash."""
    async with database.tx(workspace_id) as tx:
        if found is not None:
            title = None if file.titled else found.title
            outcome = await documents.fill(tx, file.document_id, file.name, title, found.content, file.call)
            if outcome == "absent":
                await queries.release_claim(tx, file.document_id)
                return
            if outcome == "refused":
                failure = "The document is lease-managed, so that the file could not be written into it."
        await queries.end_reading(tx, file.document_id, failure)
        await enqueue_in(tx, [index_job(workspace_id)])


async def _release(database: Database, workspace_id: UUID, file: Waiting) -> None:
    async with database.tx(workspace_id) as tx:
        await queries.release_claim(tx, file.document_id)


@contextlib.asynccontextmanager
async def _kept(database: Database, workspace_id: UUID, document_id: UUID) -> AsyncIterator[None]:
    """Renew the claim while the block works: a file may wait for its turn, and take its time."""

    async def renew() -> None:
        while True:
            await asyncio.sleep(_CLAIM_SECONDS / 3)
            async with database.tx(workspace_id) as tx:
                await queries.renew_claim(tx, document_id, _CLAIM_SECONDS)

    renewing = asyncio.create_task(renew())
    try:
        yield
    finally:
        renewing.cancel()
        await asyncio.gather(renewing, return_exceptions=True)
