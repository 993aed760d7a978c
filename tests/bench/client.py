"""The load client, a process of its own: raw sockets, one request in flight a connection, orders over stdin.

An order is one line of JSON (an `Order`), its answer one line: requests, refused ones, seconds, p50 and p99.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import sys
import time
from dataclasses import asdict, dataclass, field
from typing import Any

_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_REVISION = re.compile(rb'"revision": ?(\d+)')
_FILLER = 1000


@dataclass
class Order:
    """What to send for how long: a fixed request, or changes of one document for each connection."""

    port: int
    seconds: float
    method: str
    paths: list[str]
    headers: dict[str, str] = field(default_factory=dict)
    body: str = ""
    change: bool = False
    """Send a new content and the expected revision each time."""
    keyed: bool = False
    """Send a fresh Idempotency-Key each time."""
    revisions: list[int] = field(default_factory=list)
    expect: int = 200
    connections: int | None = None
    """How many requests are in flight; as many as the client was started for unless given."""


class Connection(asyncio.Protocol):
    """Sends the next request as soon as an answer is complete."""

    def __init__(self, order: Order, slot: int, deadline: float, done: asyncio.Future[None]) -> None:
        self._order = order
        self._path = order.paths[slot % len(order.paths)]
        self._deadline, self._done = deadline, done
        self._buffer = b""
        self._sent = 0.0
        self.times: list[float] = []
        self.refused = 0
        self.revision = order.revisions[slot] if order.revisions else 0
        lines = [f"{order.method} {self._path} HTTP/1.1", "Host: 127.0.0.1"]
        lines += [f"{name}: {value}" for name, value in order.headers.items()]
        self._head = "\r\n".join(lines).encode()
        self._prefix = secrets.token_hex(4)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport
        self._send()

    def _send(self) -> None:
        order, head, body = self._order, self._head, self._order.body
        if order.change:
            text = f"{self._prefix}-{len(self.times)}-".ljust(_FILLER, "x")
            body = json.dumps({"content": text, "expectedRevision": self.revision})
        if order.keyed:
            head += f"\r\nIdempotency-Key: {self._prefix}-{len(self.times)}-{self.revision}".encode()
        if body:
            head += f"\r\nContent-Type: application/json\r\nContent-Length: {len(body)}".encode()
        self._sent = time.perf_counter()
        self._transport.write(head + b"\r\n\r\n" + body.encode())

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        length = _LENGTH.search(self._buffer, 0, end)
        if len(self._buffer) < end + 4 + (int(length.group(1)) if length else 0):
            return
        self._answered(self._buffer)
        self._buffer = b""
        if time.perf_counter() < self._deadline:
            self._send()
        else:
            self._transport.close()

    def _answered(self, answer: bytes) -> None:
        now = time.perf_counter()
        self.times.append(now - self._sent)
        self.refused += int(answer[9:12]) != self._order.expect
        if self._order.change and (found := _REVISION.search(answer)):
            self.revision = int(found.group(1))

    def connection_lost(self, _exc: Exception | None) -> None:
        if not self._done.done():
            self._done.set_result(None)


async def run(order: Order, connections: int) -> dict[str, Any]:
    """Serve one order."""
    loop = asyncio.get_running_loop()
    started = time.perf_counter()
    futures = [loop.create_future() for _ in range(order.connections or connections)]
    made = [Connection(order, slot, started + order.seconds, future) for slot, future in enumerate(futures)]
    for connection in made:
        await loop.create_connection(lambda c=connection: c, "127.0.0.1", order.port)
    await asyncio.wait_for(asyncio.gather(*futures), order.seconds + 30)
    times = sorted(value for connection in made for value in connection.times)
    return {
        "requests": len(times),
        "refused": sum(connection.refused for connection in made),
        "seconds": time.perf_counter() - started,
        "p50": times[len(times) // 2],
        "p99": times[int(len(times) * 0.99)],
        "revisions": [connection.revision for connection in made],
    }


def dump(order: Order) -> str:
    """Write an order as its line."""
    return json.dumps(asdict(order))


def main() -> None:
    """Serve orders until stdin ends."""
    connections = int(sys.argv[1])
    try:
        import uvloop

        runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
    except ImportError:
        runner = asyncio.Runner()
    with runner:
        for line in sys.stdin:
            print(json.dumps(runner.run(run(Order(**json.loads(line)), connections))), flush=True)


if __name__ == "__main__":
    main()
