"""An HTTP client transport that calls the application inside this process and streams.

The client library's own transport collects the whole response first, and never tells the application that the client
has gone; this one hands over each part as it is sent, and disconnects when the response is closed.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import AsyncIterator, Iterable, MutableMapping
from typing import Any

import httpx2

Message = MutableMapping[str, Any]
PROXY = "127.0.0.1"
_VALUE = re.compile(rb"[ -~]*")
_PARAMETER = rb'[a-z_]+="[ !#-\[\]-~]*"'
_CHALLENGE = re.compile(rb"(Bearer|Basic)( " + _PARAMETER + rb"(, " + _PARAMETER + rb")*)?")


class Transport(httpx2.AsyncBaseTransport):
    """Serves requests by an ASGI application; what it raises before it answered is a 500.

    Each transport has an address of its own; a request that says whose it forwards comes from the trusted proxy.
    """

    def __init__(self, app: Any) -> None:
        self._app = app
        self._address = "10." + ".".join(str(secrets.randbelow(256)) for _ in range(3))

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        exchange = _Exchange(request, PROXY if "x-forwarded-for" in request.headers else self._address)
        exchange.task = asyncio.create_task(exchange.run(self._app))
        try:
            start = await exchange.messages.get()
        except asyncio.CancelledError:
            await exchange.aclose()
            raise
        if start["type"] != "http.response.start":
            return httpx2.Response(500, content=b"the application raised before it answered")
        _judge(start.get("headers", ()))
        return httpx2.Response(start["status"], headers=list(start.get("headers", ())), stream=exchange)


def _judge(headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Hold every answer of every test to what strict clients read: printable ASCII, challenges as RFC 6750 has them."""
    for name, value in headers:
        assert _VALUE.fullmatch(value), (name, value)
        assert name.lower() != b"www-authenticate" or _CHALLENGE.fullmatch(value), value


class _Exchange(httpx2.AsyncByteStream):
    """One request on its way through the application; as a stream, the response's body."""

    def __init__(self, request: httpx2.Request, address: str) -> None:
        self.request = request
        self._address = address
        self.messages: asyncio.Queue[Message] = asyncio.Queue()
        self.task: asyncio.Task[None] | None = None
        self._body = aiter(request.stream)  # type: ignore[arg-type]
        self._sent_all = False
        self._gone = asyncio.Event()

    async def run(self, app: Any) -> None:
        url = self.request.url
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": self.request.method,
            "headers": [(name.lower(), value) for name, value in self.request.headers.raw],
            "scheme": url.scheme,
            "path": url.path,
            "raw_path": url.raw_path.split(b"?")[0],
            "query_string": url.query,
            "server": (url.host, url.port),
            "client": (self._address, 123),
            "root_path": "",
        }
        try:
            await app(scope, self._receive, self._send)
        except Exception:  # noqa: BLE001  a server would close the connection; the test sees 500 or a short body
            pass
        finally:
            await self.messages.put({"type": "end"})

    async def _receive(self) -> Message:
        if self._sent_all:
            await self._gone.wait()
            return {"type": "http.disconnect"}
        try:
            return {"type": "http.request", "body": await anext(self._body), "more_body": True}
        except StopAsyncIteration:
            self._sent_all = True
            return {"type": "http.request", "body": b"", "more_body": False}

    async def _send(self, message: Message) -> None:
        await self.messages.put(message)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            message = await self.messages.get()
            if message["type"] != "http.response.body":
                return
            if self.request.method != "HEAD" and message.get("body"):
                yield message["body"]
            if not message.get("more_body", False):
                return

    async def aclose(self) -> None:
        self._gone.set()
        if self.task is not None:
            done, _ = await asyncio.wait({self.task}, timeout=5)
            if not done:
                self.task.cancel()
