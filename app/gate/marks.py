"""Marks: what a call leaves behind without writing (when a credential was last used, and by which client).

They are collected in memory and written by a flusher every few seconds, many in one statement; a process that is killed
loses at most what it had not written yet. Derived state: nothing may depend on a mark being there.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
    from uuid import UUID

    from app.gate.principal import CredentialKind

    Writer = Callable[[dict[UUID, str | None]], Awaitable[None]]
    """Writes the last use of some credentials: id → the client that used it."""

log = logging.getLogger(__name__)
FLUSH_SECONDS = 10.0
_HELD = 50_000


class Marks:
    """The uses of credentials since the last flush; a later use of one replaces the earlier."""

    def __init__(self, writers: Mapping[CredentialKind, Writer]) -> None:
        self._writers = writers
        self._used: dict[CredentialKind, dict[UUID, str | None]] = {kind: {} for kind in writers}

    def used(self, kind: CredentialKind, credential_id: UUID, client: str | None) -> None:
        """Note that a credential was used just now."""
        found = self._used.get(kind)
        if found is not None and (len(found) < _HELD or credential_id in found):
            found[credential_id] = client

    async def flush(self) -> None:
        """Write what was noted; what cannot be written just now is lost, which marks may be."""
        for kind, found in self._used.items():
            if not found:
                continue
            self._used[kind] = {}
            try:
                await self._writers[kind](found)
            except Exception as error:  # noqa: BLE001  a mark is never worth a failure
                log.warning("%d marks of %s were lost (%s)", len(found), kind, type(error).__name__)

    @contextlib.asynccontextmanager
    async def flushing(self) -> AsyncIterator[None]:
        """Flush regularly for a block, and once more at its end."""

        async def again() -> None:
            while True:
                await asyncio.sleep(FLUSH_SECONDS)
                await self.flush()

        task = asyncio.create_task(again())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await self.flush()
