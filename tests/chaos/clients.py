"""Clients that try until they are answered: at least once, under one key, on any worker, sometimes twice at a time."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from tests.chaos.history import UNKNOWN, Call

TRIES = 8
TIMEOUT_SECONDS = 5.0
_KINDS = {"get": 26, "if_match": 20, "expected": 16, "blind": 10, "restore": 8, "noop": 7, "stale": 4, "versions": 5}
_KEYED, _TWICE, _LATE, _SHARED, _MISUSED = 0.75, 0.15, 0.10, 0.15, 0.10


@dataclass(frozen=True)
class Request:
    """A request as bytes go over the wire, and what the checker must know of it."""

    call: Call
    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] | None = None

    def encode(self, credential: str) -> bytes:
        """Write it for a connection of its own."""
        payload = b"" if self.body is None else json.dumps(self.body).encode()
        headers = {"Host": "service.test", "Authorization": credential, "Connection": "close", **self.headers}
        if self.call.key:
            headers["Idempotency-Key"] = self.call.key
        if payload:
            headers |= {"Content-Type": "application/json", "Content-Length": str(len(payload))}
        lines = [f"{self.method} {self.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + payload


async def exchange(port: int, data: bytes) -> tuple[int, dict[str, str], str]:
    """Send bytes on a fresh connection and read the whole answer.

    Raises:
        OSError, EOFError, TimeoutError: the answer is not complete.
    """
    async with asyncio.timeout(TIMEOUT_SECONDS):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(data)
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            return int(head[0].split()[1]), headers, body.decode()
        finally:
            writer.close()


@dataclass
class Known:
    """What a client last learnt of a document."""

    revision: int
    etag: str
    content: str
    versions: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Document:
    """A document and the credentials, of one user but of several grants, that may change it."""

    id: str
    credentials: tuple[str, ...]


@dataclass
class World:
    """What all clients of a run share."""

    ports: Callable[[], Sequence[int]]
    documents: Sequence[Document]
    random: Random
    deadline: float
    calls: list[Call] = field(default_factory=list)
    late: set[asyncio.Task[None]] = field(default_factory=set)
    retried: int = 0
    keys: dict[str, set[str]] = field(default_factory=dict)
    """Which credentials have used a key: elsewhere the same text is another key."""
    _count: int = 0

    def key_for(self, credential: str, op: str) -> str:
        """Choose a key that the credential has not used: a fresh one, or one that another has."""
        foreign = [key for key, users in list(self.keys.items())[-50:] if credential not in users]
        key = self.random.choice(foreign) if foreign and self.random.random() < _SHARED else f"key-{op}"
        self.keys.setdefault(key, set()).add(credential)
        return key

    def next_name(self) -> str:
        """Name the next operation; the name travels as the change log, so that its effect can be found."""
        self._count += 1
        return f"op{self._count}"

    async def send(self, request: Request, credential: str) -> Call:
        """Make one try and record it."""
        ports = self.ports()
        worker = self.random.randrange(len(ports))
        invoked = time.monotonic()
        try:
            status, headers, body = await exchange(ports[worker], request.encode(credential))
        except (OSError, EOFError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            status, headers, body = UNKNOWN, {}, ""
        call = replace(
            request.call,
            invoked=invoked,
            returned=time.monotonic(),
            status=status,
            body=body,
            etag=headers.get("etag", ""),
            replayed="idempotency-replayed" in headers,
            worker=worker,
        )
        self.calls.append(call)
        return call


class Client:
    """One sequential client."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._random = world.random
        self._known: dict[str, Known] = {}

    async def run(self) -> None:
        """Work until the run's end."""
        while time.monotonic() < self._world.deadline:
            document = self._random.choice(self._world.documents)
            kind = self._random.choices(list(_KINDS), list(_KINDS.values()))[0]
            if document.id not in self._known:
                kind = "get"
            credential = self._random.choice(document.credentials)
            request = self._request(document, kind, credential)
            answer = await self._deliver(request, credential)
            if answer is not None:
                self._learn(document.id, request, answer)
                if answer.ok and request.call.key and self._random.random() < _MISUSED:
                    await self._misuse(request, credential)

    def _request(self, document: Document, kind: str, credential: str) -> Request:
        op, path = self._world.next_name(), f"/v1/documents/{document.id}"
        call = Call(op, "get", document.id, 0.0, 0.0)
        known = self._known.get(document.id)
        if kind == "get" or known is None:
            return Request(call, "GET", path)
        if kind == "versions":
            return Request(replace(call, kind="versions"), "GET", f"{path}/versions?limit=100")
        if self._random.random() < _KEYED:
            call = replace(call, key=self._world.key_for(credential, op))
        if kind == "restore" and known.versions:
            body: dict[str, Any] = {"versionId": self._random.choice(known.versions), "changeLog": op}
            expected = known.revision if self._random.random() < 0.5 else None
            body |= {} if expected is None else {"expectedRevision": expected}
            return Request(replace(call, kind="restore", expected=expected), "POST", f"{path}/restore", body=body)
        return self._patch(call, path, kind, known)

    def _patch(self, call: Call, path: str, kind: str, known: Known) -> Request:
        content = known.content if kind in ("noop", "stale") else f"{call.op} wrote this"
        expected = {"blind": None, "stale": max(1, known.revision - 1)}.get(kind, known.revision)
        body, headers = {"content": content, "changeLog": call.op}, {}
        if kind == "if_match":
            headers = {"If-Match": known.etag}
        elif expected is not None:
            body |= {"expectedRevision": expected}
        return Request(replace(call, kind="patch", expected=expected, content=content), "PATCH", path, headers, body)

    async def _misuse(self, request: Request, credential: str) -> None:
        """Send another request under a key that was answered: it must be refused and do nothing."""
        op = self._world.next_name()
        call = replace(request.call, op=op, kind="misuse", expected=None)
        body = {"content": f"{op} must not be written", "changeLog": op}
        path = f"/v1/documents/{request.call.document}"
        await self._world.send(Request(call, "PATCH", path, {}, body), credential)

    async def _deliver(self, request: Request, credential: str) -> Call | None:
        """Send until the outcome is known; without a key only once, since a repetition would be another request."""
        world, keyed = self._world, bool(request.call.key)
        if keyed and self._random.random() < _TWICE:
            self._later(request, credential, self._random.uniform(0, 0.05))
        answer: Call | None = None
        for attempt in range(TRIES if keyed or not request.call.writes else 1):
            call = await world.send(request, credential)
            if call.known:
                answer = call
                break
            world.retried += keyed and attempt == 0
            await asyncio.sleep(self._random.uniform(0.02, 0.2) * (attempt + 1))
        if keyed and self._random.random() < _LATE:
            self._later(request, credential, self._random.uniform(0.2, 3.0))
        return answer

    def _later(self, request: Request, credential: str, seconds: float) -> None:
        async def send() -> None:
            await asyncio.sleep(seconds)
            await self._world.send(request, credential)

        task = asyncio.create_task(send())
        self._world.late.add(task)
        task.add_done_callback(self._world.late.discard)

    def _learn(self, document: str, request: Request, answer: Call) -> None:
        if not answer.ok:
            self._known.pop(document, None)
            return
        data = answer.answer["data"]
        if request.call.kind == "get":
            versions = self._known[document].versions if document in self._known else []
            self._known[document] = Known(data["revision"], answer.etag, data["content"], versions)
            return
        known = self._known.get(document)
        if known is None:
            return
        if request.call.kind == "versions":
            known.versions = [version["id"] for version in data][:20]
        elif request.call.kind == "patch":
            self._known[document] = Known(data["revision"], answer.etag, request.call.content, known.versions)
        else:
            del self._known[document]
