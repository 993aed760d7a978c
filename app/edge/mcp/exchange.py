"""One request of a handshake revision, answered in one JSON body.

The SDK gives such a request a transport, three tasks and two streams of its own, as if a session were to follow. A
stateless server has none: the request goes straight to the SDK's driver of single exchanges.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio
import pydantic_core
from mcp.server.connection import Connection
from mcp.server.runner import modern_error_data, serve_one
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.requests import Request

from app.edge.asgi import header, send_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.server.lowlevel import Server
    from mcp.shared.dispatcher import CallOptions

    from app.edge.asgi import Receive, Scope, Send
    from app.edge.mcp.rpc import Message, RequestId

_WITHOUT_HEADER = "2025-03-26"
"""The revision of a request that names none (2025-11-25, basic/transports, protocol version header)."""
_TRANSPORT = TransportContext(kind="streamable-http", can_send_request=False)


@dataclass
class _Exchange:
    """What the SDK asks of a request's channel: nothing goes back but the answer."""

    request_id: RequestId
    message_metadata: ServerMessageMetadata
    transport: TransportContext = _TRANSPORT
    can_send_request: bool = False
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)

    async def send_raw_request(
        self,
        method: str,
        params: Mapping[str, Any] | None,  # noqa: ARG002  the SDK's protocol
        opts: CallOptions | None = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        """Refuse: the client's answer would have nowhere to arrive."""
        raise NoBackChannelError(method)

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        """Drop a notification: one JSON body has room for the answer alone."""

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Drop progress, as any notification."""


def revision(scope: Scope, message: Message) -> str | None:
    """Give the handshake revision that a request speaks; None when it is no such request."""
    if "method" not in message.raw or "id" not in message.raw:
        return None
    named = header(scope, b"mcp-protocol-version")
    if named is None:
        return _WITHOUT_HEADER
    return named if named in HANDSHAKE_PROTOCOL_VERSIONS else None


async def serve(
    server: Server[Any], version: str, message: Message, scope: Scope, receive: Receive, send: Send
) -> None:
    """Answer a request with its result or its error."""
    channel = _Exchange(message.id, ServerMessageMetadata(request_context=Request(scope, receive)))
    answer: dict[str, Any] = {"jsonrpc": "2.0", "id": message.id}
    try:
        answer["result"] = await serve_one(
            server,
            channel,
            message.method,
            message.raw.get("params"),
            connection=Connection.from_envelope(version, None, None),
            lifespan_state={},
        )
    except Exception as error:  # noqa: BLE001  the SDK's own table names the known ones and logs the others
        answer["error"] = modern_error_data(error).model_dump(mode="json", exclude_none=True)
    await send_bytes(send, 200, [(b"content-type", b"application/json")], pydantic_core.to_json(answer))
