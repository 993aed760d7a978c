"""The HTTP/1.1 protocol with bounds on what comes before a request: the server's own parser has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    import asyncio

HEAD_SECONDS = 20.0
HEAD_BYTES = 256 * 1024


class BoundedProtocol(HttpToolsProtocol):
    """Closes a connection whose next request line and headers do not come in time, or are larger than any of ours."""

    _deadline: asyncio.TimerHandle | None = None
    _waiting = True
    _head_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._arm()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._disarm()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes; those of an unfinished head are counted."""
        begun = self._waiting  # else most of the bytes may belong to the body before
        super().data_received(data)
        if not self._waiting or self.transport.is_closing():
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
        self._waiting = False
        self._disarm()
        super().on_headers_complete()

    def _arm(self) -> None:
        self._deadline = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _disarm(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if self._waiting and not self.transport.is_closing():
            self.transport.close()
