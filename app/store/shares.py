"""Fair shares of a pool: slow calls of one workspace never hold the connection that the others need."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from uuid import UUID

SECONDS = 2.0
"""How long a call waits for its workspace's turn."""


@dataclass(slots=True)
class _Share:
    places: asyncio.Semaphore
    callers: int = 0


class Shares:
    """Lets each workspace hold three quarters of a pool at most; further calls of it wait behind its own."""

    def __init__(self, size: int, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._places = max(1, size - max(1, size // 4))
        self._shares: dict[UUID, _Share] = {}

    @contextlib.asynccontextmanager
    async def held(self, workspace_id: UUID) -> AsyncIterator[None]:
        """Hold one place of a workspace's share.

        Raises:
            TimeoutError: the workspace's own calls took all its places for too long.
        """
        share = self._shares.get(workspace_id)
        if share is None:
            share = self._shares[workspace_id] = _Share(asyncio.Semaphore(self._places))
        share.callers += 1
        try:
            async with asyncio.timeout(self._seconds):
                await share.places.acquire()
            try:
                yield
            finally:
                share.places.release()
        finally:
            share.callers -= 1
            if not share.callers:
                del self._shares[workspace_id]
