"""Marks: what a call leaves behind without writing (when a credential was last used, how often a page was opened).

They are collected in memory and written by a flusher every few seconds, many in one statement; a process that is killed
loses at most what it had not written yet. Derived state: nothing may depend on a mark being there.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
    from uuid import UUID

    from app.gate.principal import CredentialKind

    Writer = Callable[[dict[UUID, str | None]], Awaitable[None]]
    """Writes the last use of some credentials: id → the client that used it."""
    Adder = Callable[[dict[UUID, int]], Awaitable[None]]
    """Adds to the numbers of some things: id → how often since the last time."""

log = logging.getLogger(__name__)
FLUSH_SECONDS = 10.0
_HELD = 50_000


class Marks:
    """The uses of credentials since the last flush, of which the last counts, and numbers, which are added."""

    def __init__(
        self, writers: Mapping[CredentialKind, Writer], adders: Mapping[str, Adder] = MappingProxyType({})
    ) -> None:
        self._writers = writers
        self._used: dict[CredentialKind, dict[UUID, str | None]] = {kind: {} for kind in writers}
        self._adders = adders
        self._counts: dict[str, Counter[UUID]] = {name: Counter() for name in adders}

    def used(self, kind: CredentialKind, credential_id: UUID, client: str | None) -> None:
        """Note that a credential was used just now."""
        found = self._used.get(kind)
        if found is not None and (len(found) < _HELD or credential_id in found):
            found[credential_id] = client

    def count(self, name: str, thing: UUID) -> None:
        """Add one to a number of a thing."""
        found = self._counts[name]
        if len(found) < _HELD or thing in found:
            found[thing] += 1

    async def flush(self) -> None:
        """Write what was noted; what cannot be written just now is lost, which marks may be."""
        for kind, found in self._used.items():
            if not found:
                continue
            self._used[kind] = {}
            await _written(kind, len(found), self._writers[kind](found))
        for name, counted in self._counts.items():
            if not counted:
                continue
            self._counts[name] = Counter()
            await _written(name, len(counted), self._adders[name](dict(counted)))

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


async def _written(name: str, number: int, writing: Awaitable[None]) -> None:
    try:
        await writing
    except Exception as error:  # noqa: BLE001  a mark is never worth a failure
        log.warning("%d marks of %s were lost (%s)", number, name, type(error).__name__)
