"""Reads waiting files in the worker: a claim, the confined reader, then one transaction that writes the text."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.features.documents import service as documents
from app.features.uploads import queries
from app.features.uploads.errors import FileTypeUnsupported, FileUnreadable
from app.features.uploads.schemas import Converted, UploadedFile
from app.gate.index import index_job
from app.kit.errors import QuotaExceeded, Unavailable
from app.store import blobs
from app.store.jobs import Job, enqueue_in

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from uuid import UUID

    from app.features.plans.service import Allowances
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
_AGAIN: Final = "Then upload the file again."
_EXHAUSTED: Final = (
    f"Reading the file was started {MAX_STARTS} times and never ended; save it anew and upload it again."
)
_GONE: Final = "The file is gone; upload it again."
_MANAGED: Final = (
    "The document is lease-managed, so that the file could not be written into it; upload it again as another document."
)


def reading_job(workspace_id: UUID) -> Job:
    """Ask for the waiting files of a workspace to be read."""
    return Job(READING_JOB, {"workspace": str(workspace_id)}, merges=True)


async def keep_original(tx: Tx, document_id: UUID, file: UploadedFile) -> None:
    """Keep the file that a document, whose text is known, was made from."""
    await queries.put_original(tx, document_id, file)


@dataclass(frozen=True, slots=True)
class Reading:
    """What reading the files of a workspace needs."""

    database: Database
    converter: Converter
    allowances: Allowances
    workspace_id: UUID

    async def read_files(self) -> bool:
        """Read waiting files for a while, one at least; tells whether more may be left."""
        deadline = time.monotonic() + _TURN_SECONDS
        while await self._read_next():
            if time.monotonic() >= deadline:
                return True
        return False

    async def _read_next(self) -> bool:
        """Read one file; False when none waits, or too much is being read just now: a sweep asks again."""
        async with self._tx() as tx:
            file = await queries.claim_file(tx, _CLAIM_SECONDS, _READING)
        if file is None:
            return False
        found: Converted | None = None
        try:
            async with self._kept(file.document_id):
                found, failure = await self._converted(file)
        except BaseException as error:
            if not isinstance(error, Exception) or isinstance(error, Unavailable):  # not the file's fault
                await asyncio.shield(self._release(file))
            if isinstance(error, Unavailable):
                return False
            raise
        await self._finish(file, found, failure)
        return True

    async def _converted(self, file: Waiting) -> tuple[Converted | None, str | None]:
        """Give the file's text, or why there is none."""
        if file.starts > MAX_STARTS:
            return None, _EXHAUSTED
        async with self.database.snapshot(self.workspace_id) as snapshot:
            content = await blobs.get(snapshot, file.digest)
        if content is None:
            return None, _GONE
        original = UploadedFile(name=file.name, media_type=file.media_type, content=content)
        try:
            return await self.converter.convert(self.workspace_id, original), None
        except (FileTypeUnsupported, FileUnreadable) as error:
            return None, error.message

    async def _finish(self, file: Waiting, found: Converted | None, failure: str | None) -> None:
        """End the wait with the text, or with why there is none; nothing happens in the trash."""
        failure = await self._fill(file, found) if found is not None else failure
        if failure is not None:
            async with self._tx() as tx:
                await self._end(tx, file, failure)

    async def _fill(self, file: Waiting, found: Converted) -> str | None:
        """Write the text and end the wait; where there is no room for it, nothing is written, and this says so."""
        try:
            async with self._tx() as tx:
                await self.allowances.within(tx, lambda: self._write(tx, file, found))
        except QuotaExceeded as error:
            return f"Its text was not kept. {error.message} {_AGAIN}"
        return None

    async def _write(self, tx: Tx, file: Waiting, found: Converted) -> None:
        """Write the text, unless somebody wrote another meanwhile."""
        title = None if file.titled else found.title
        outcome = await documents.fill(tx, file.document_id, file.name, title, found.content, file.call)
        if outcome == "absent":
            await queries.release_claim(tx, file.document_id)
        else:
            await self._end(tx, file, _MANAGED if outcome == "refused" else None)

    async def _end(self, tx: Tx, file: Waiting, failure: str | None) -> None:
        await queries.end_reading(tx, file.document_id, failure)
        await enqueue_in(tx, [index_job(self.workspace_id)])

    async def _release(self, file: Waiting) -> None:
        async with self._tx() as tx:
            await queries.release_claim(tx, file.document_id)

    @contextlib.asynccontextmanager
    async def _kept(self, document_id: UUID) -> AsyncIterator[None]:
        """Renew the claim while the block works: a file may wait for its turn, and take its time."""

        async def renew() -> None:
            while True:
                await asyncio.sleep(_CLAIM_SECONDS / 3)
                async with self._tx() as tx:
                    await queries.renew_claim(tx, document_id, _CLAIM_SECONDS)

        renewing = asyncio.create_task(renew())
        try:
            yield
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)

    def _tx(self) -> contextlib.AbstractAsyncContextManager[Tx]:
        return self.database.tx(self.workspace_id)
