"""A surface made to run: the SDK's server under two session managers, and the ready list."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from app.edge.asgi import header
from app.edge.mcp import exchange
from app.edge.mcp.listing import Listing
from app.edge.mcp.server import build

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from mcp.server.lowlevel import Server

    from app.edge.asgi import Receive, Scope, Send
    from app.edge.mcp.rpc import Message
    from app.edge.mcp.surface import Surface

_ROOM = 1024  # the guard has already counted the body


class Endpoint:
    """Serves one surface while its `running` is open; stateless, so any process can serve any request.

    Requests of the handshake revisions are single exchanges. Tool calls of the 2026-07-28 revision go through the
    manager that can stream: there a client that leaves cancels its call. Everything else, and clients that take only
    JSON, are answered in one JSON body.
    """

    listing: Listing
    _server: Server[Any]
    _json: StreamableHTTPSessionManager
    _streaming: StreamableHTTPSessionManager

    def __init__(self, surface: Surface, body_limit: int, server: Callable[[Surface], Server[Any]] = build) -> None:
        self.surface = surface
        self._build = server
        self._limit = body_limit + _ROOM

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Hold the managers open; made anew each time, since a manager runs once."""
        server = self._server = self._build(self.surface)
        self._json = StreamableHTTPSessionManager(
            server, json_response=True, stateless=True, max_request_body_size=self._limit
        )
        self._streaming = StreamableHTTPSessionManager(server, stateless=True, max_request_body_size=self._limit)
        async with self._json.run(), self._streaming.run():
            self.listing = await Listing.made_by(self._json.handle_request)
            yield

    async def serve(self, scope: Scope, receive: Receive, send: Send, message: Message) -> None:
        """Pass a guarded request to the SDK."""
        if (revision := exchange.revision(scope, message)) is not None:
            await exchange.serve(self._server, revision, message, scope, receive, send)
            return
        streams = message.method == "tools/call" and (
            header(scope, b"mcp-protocol-version") in MODERN_PROTOCOL_VERSIONS
            and "text/event-stream" in (header(scope, b"accept") or "")
        )
        manager = self._streaming if streams else self._json
        await manager.handle_request(scope, receive, send)
