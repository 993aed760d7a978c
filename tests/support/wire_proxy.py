"""A TCP proxy in front of Postgres that counts round trips and can hold, drop or cut what passes.

A round trip is a frontend message that the client waits on: a simple query (`Q`) or a `Sync` (`S`), so BEGIN and COMMIT
count. The proxy lives in the caller's event loop and speaks only to loopback.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from urllib.parse import urlsplit

_SSL_REQUEST = 80877103
_GSS_REQUEST = 80877104
_TRIPS = frozenset(b"QS")


class FrontendMessages:
    """Splits the client's bytes into messages; the startup phase has messages without a type."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._started = False

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Take bytes and yield the complete messages as (type, body); type 0 before the session starts."""
        self._buffer += data
        while True:
            skip = 1 if self._started else 0
            if len(self._buffer) < skip + 4:
                return
            length = int.from_bytes(self._buffer[skip : skip + 4])
            if len(self._buffer) < skip + length:
                return
            kind = self._buffer[0] if self._started else 0
            body = bytes(self._buffer[skip + 4 : skip + length])
            del self._buffer[: skip + length]
            if not self._started:
                self._started = int.from_bytes(body[:4]) not in (_SSL_REQUEST, _GSS_REQUEST)
            yield kind, body


class WireProxy:
    """The proxy's counters and levers; levers hold for all connections at once."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._writers: set[asyncio.StreamWriter] = set()
        self.port = 0
        self.trips = 0
        self.delay = 0.0
        """Seconds that every answer is held."""
        self.commit_delay = 0.0
        """Seconds that answers are held once a COMMIT has passed."""
        self.dropping = False
        """Whether answers are swallowed."""
        self.committed = asyncio.Event()
        """Set when a COMMIT has passed while `commit_delay` was on."""

    def url(self, url: str) -> str:
        """Lead an address through the proxy."""
        parts = urlsplit(url)
        return parts._replace(netloc=f"{parts.netloc.rpartition('@')[0]}@127.0.0.1:{self.port}").geturl()

    @contextlib.contextmanager
    def counting(self) -> Iterator[list[int]]:
        """Count the round trips of a block; the figure is in the list afterwards."""
        before, result = self.trips, [0]
        yield result
        result[0] = self.trips - before

    def cut(self) -> None:
        """Break every connection."""
        for writer in list(self._writers):
            writer.transport.abort()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection."""
        try:
            upstream, server = await asyncio.open_connection(*self._target)
        except OSError:
            writer.transport.abort()
            return
        pair = {writer, server}
        self._writers |= pair
        hold = [0.0]
        tasks = [
            asyncio.create_task(self._forward(reader, server, hold)),
            asyncio.create_task(self._backward(upstream, writer, hold)),
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for end in pair:
                end.close()
            self._writers -= pair

    async def _forward(self, reader: asyncio.StreamReader, server: asyncio.StreamWriter, hold: list[float]) -> None:
        messages = FrontendMessages()
        while data := await reader.read(65536):
            for kind, body in messages.feed(data):
                self.trips += kind in _TRIPS
                if self.commit_delay and kind == ord("Q") and body.rstrip(b"\0").endswith(b"COMMIT"):
                    hold[0] = self.commit_delay
                    self.committed.set()
            server.write(data)
            await server.drain()

    async def _backward(self, upstream: asyncio.StreamReader, writer: asyncio.StreamWriter, hold: list[float]) -> None:
        while data := await upstream.read(65536):
            wait, hold[0] = max(self.delay, hold[0]), 0.0
            if wait:
                await asyncio.sleep(wait)
            if not self.dropping:
                writer.write(data)
                await writer.drain()


@contextlib.asynccontextmanager
async def proxying(url: str) -> AsyncIterator[WireProxy]:
    """Run a proxy in front of the server of an address."""
    parts = urlsplit(url)
    proxy = WireProxy(parts.hostname or "127.0.0.1", parts.port or 5432)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        proxy.cut()
