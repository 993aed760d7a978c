"""The HTTP/1.1 protocol with bounds on how long a client may take to send: the server's own parser has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    import asyncio

HEAD_SECONDS = 20.0
HEAD_BYTES = 256 * 1024
BODY_SECONDS = 20.0
BODY_RATE = 1024
"""A body has `BODY_SECONDS`, and a second more for each `BODY_RATE` bytes that came: who is slow but steady goes on."""

_TIMEOUT = (
    b"HTTP/1.1 408 Request Timeout\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: 39\r\n"
    b"connection: close\r\n\r\nThe body of the request came too slowly"
)


class BoundedProtocol(HttpToolsProtocol):
    """Closes a connection whose next request line and headers do not come in time, or are larger than any of ours.

    A body that comes too slowly is answered 408. A timer is set only for a body that is not there with its head.
    """

    _deadline: asyncio.TimerHandle | None = None
    _waiting = True
    _head_bytes = 0
    _body_deadline: asyncio.TimerHandle | None = None
    _in_body = False
    _body_begun = 0.0
    _body_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._arm()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._disarm()
        self._end_body()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes; those of an unfinished head are counted."""
        begun = self._waiting  # else most of the bytes may belong to the body before
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._in_body and self._body_deadline is None:
            self._begin_body()
        if not self._waiting:
            return
        self._head_bytes += len(data) if begun else 0
        if self._head_bytes > HEAD_BYTES:
            self.send_400_response("The request line and headers are too large.")
        elif self._deadline is None:
            self._arm()

    def on_message_begin(self) -> None:
        """Begin a head."""
        self._waiting, self._head_bytes = True, 0
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; what follows a body (trailers) is dropped, since the request was judged without it."""
        if self._waiting:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """End the head."""
        self._waiting, self._in_body = False, True
        self._disarm()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of the body."""
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End the body."""
        self._end_body()
        super().on_message_complete()

    def _arm(self) -> None:
        self._deadline = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _disarm(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _begin_body(self) -> None:
        self._body_begun, self._body_bytes = self.loop.time(), 0
        self._body_deadline = self.loop.call_later(BODY_SECONDS, self._judge_body)

    def _end_body(self) -> None:
        self._in_body = False
        if self._body_deadline is not None:
            self._body_deadline.cancel()
            self._body_deadline = None

    def _judge_body(self) -> None:
        """Wait on while enough came; while we do not read ourselves, nobody is slow."""
        if self.transport.is_closing():
            return
        if self.flow.read_paused:
            self._begin_body()
            return
        left = self._body_begun + BODY_SECONDS + self._body_bytes / BODY_RATE - self.loop.time()
        if left > 0:
            self._body_deadline = self.loop.call_later(left, self._judge_body)
            return
        if not self.cycle.response_started:
            self.transport.write(_TIMEOUT)
        self.transport.close()

    def _give_up(self) -> None:
        self._deadline = None
        if self._waiting and not self.transport.is_closing():
            self.transport.close()
