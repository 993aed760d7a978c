"""Clients that hold leases: they write under them, renew, release, let them run out, and come back too late."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tests.chaos.clients import Client, Document, Request, World
from tests.chaos.history import Call

TTL_SECONDS = 5
_OVERSLEPT = 0.35
_DROPPED = 0.15
_RENEWED = 0.25
_UNFENCED = 0.3
_WAIT = 0.15
_STEP = 0.1


class LeaseClient(Client):
    """One sequential client of lease-managed documents."""

    def __init__(self, world: World, documents: Sequence[Document]) -> None:
        super().__init__(world)
        self._managed = documents

    async def run(self) -> None:
        """Work until the run's end."""
        while not self._over:
            document = self._random.choice(self._managed)
            credential = self._random.choice(document.credentials)
            lease = await self._acquire(document, credential)
            if lease is not None:
                await self._hold(document, credential, lease)
                continue
            if self._random.random() < _UNFENCED:
                await self._write(document, credential, 1, None)
            await asyncio.sleep(self._random.uniform(0, _WAIT))

    @property
    def _over(self) -> bool:
        return time.monotonic() >= self._world.deadline

    async def _acquire(self, document: Document, credential: str) -> dict[str, Any] | None:
        request = self._lease_request(document, "acquire", None, ttlSeconds=TTL_SECONDS)
        answer = await self._deliver(request, credential)
        return answer.answer["data"] if answer is not None and answer.ok else None

    async def _hold(self, document: Document, credential: str, lease: dict[str, Any]) -> None:
        """Write some times; then release, or sleep past the end and try everything, or leave it to run out."""
        read = Request(self._call(document, "get"), "GET", f"/v1/documents/{document.id}")
        answer = await self._deliver(read, credential)
        revision = answer.answer["data"]["revision"] if answer is not None and answer.ok else 1
        for _ in range(self._random.randint(1, 5)):
            if self._over:
                return
            revision = await self._write(document, credential, revision, lease)
            if self._random.random() < _RENEWED:
                await self._deliver(self._lease_request(document, "renew", lease), credential)
        chance = self._random.random()
        if chance < _DROPPED:
            return
        if chance < _DROPPED + _OVERSLEPT:
            await self._oversleep()
            for _ in range(2):
                revision = await self._write(document, credential, revision, lease)
            await self._deliver(self._lease_request(document, "renew", lease), credential)
        await self._deliver(self._lease_request(document, "release", lease), credential)
        await self._write(document, credential, revision, lease)

    async def _oversleep(self) -> None:
        seconds = TTL_SECONDS + self._random.uniform(0.1, 1.0)
        for _ in range(int(seconds / _STEP)):
            if self._over:
                return
            await asyncio.sleep(_STEP)

    async def _write(self, document: Document, credential: str, revision: int, lease: dict[str, Any] | None) -> int:
        """Write on a revision; gives the one that is current then, as far as the answer tells."""
        call = self._call(document, "patch", lease)
        call = replace(call, key=f"key-{call.op}", expected=revision, content=f"{call.op} wrote this")
        body = {"content": call.content, "changeLog": call.op, "expectedRevision": revision}
        request = Request(call, "PATCH", f"/v1/documents/{document.id}", _pair(lease), body)
        answer = await self._deliver(request, credential)
        return answer.state[0] if answer is not None and answer.state is not None else revision

    def _lease_request(self, document: Document, action: str, lease: dict[str, Any] | None, **more: int) -> Request:
        call = self._call(document, action, lease)
        path = f"/v1/documents/{document.id}/coordination/lease"
        return Request(replace(call, key=f"key-{call.op}"), "POST", path, _pair(lease), {"action": action, **more})

    def _call(self, document: Document, kind: str, lease: dict[str, Any] | None = None) -> Call:
        fence = lease["fence"] if lease else None
        return Call(self._world.next_name(), kind, document.id, 0.0, 0.0, managed=True, fence=fence)


def _pair(lease: dict[str, Any] | None) -> dict[str, str]:
    if lease is None:
        return {}
    return {"X-ContextRepo-Lease-Id": lease["leaseId"], "X-ContextRepo-Lease-Fence": str(lease["fence"])}
