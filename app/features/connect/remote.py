"""Examines this service from outside: by its public address alone, within a limit of time, one run at a time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import httpx2

from app.doctor.probe import Probe
from app.doctor.steps import examine
from app.kit.errors import Unavailable

if TYPE_CHECKING:
    from app.doctor.steps import Outcome

TOTAL_SECONDS = 25.0
REQUEST_SECONDS = 3.0
_AGENT = "context-repo-doctor"


class Examiner:
    """Runs the doctor's steps against the address of the settings; nobody can name another."""

    def __init__(self, url: str, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self._url = url
        self._transport = transport
        self._busy = asyncio.Lock()

    async def run(self) -> list[Outcome]:
        """Examine the service.

        Raises:
            Unavailable: somebody else's examination runs in this process.
        """
        if self._busy.locked():
            raise Unavailable("Another examination is running; try again in a moment.", retry_after=10)
        async with self._busy, self._client() as http:
            return await examine(Probe(http, self._url, request_seconds=REQUEST_SECONDS), TOTAL_SECONDS)

    def _client(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            transport=self._transport, headers={"user-agent": _AGENT}, trust_env=False, follow_redirects=False
        )
