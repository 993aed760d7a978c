"""`subscriptions/listen`: acknowledged, and over. Nothing is pushed, so no stream is worth holding open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.streamable_http import check_accept_headers
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.requests import Request

from app.edge.asgi import header
from app.edge.mcp.rpc import INVALID_REQUEST, Refused

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from app.edge.asgi import Scope

METHOD = "subscriptions/listen"


class QuietServer(Server[Any]):
    """A server that takes `subscriptions/listen` and advertises no changes, so that no client waits for one.

    The SDK advertises change notifications of every list as soon as the method is served.
    """

    def get_capabilities(self, *args: Any, **options: Any) -> types.ServerCapabilities:
        """Tell what is served as the handshake revisions tell it, which promise changes only where somebody says so."""
        options.pop("protocol_version", None)
        return super().get_capabilities(*args, **options)


async def acknowledge(
    ctx: ServerRequestContext[Any, Any],
    params: types.SubscriptionsListenRequestParams,  # noqa: ARG001  nothing of what is asked for is honoured
) -> types.SubscriptionsListenResult:
    """Acknowledge with an empty filter, then end the stream gracefully: the client knows that no event will come."""
    meta: dict[str, Any] = {SUBSCRIPTION_ID_META_KEY: ctx.request_id}
    await ctx.session.send_notification(
        types.SubscriptionsAcknowledgedNotification(
            params=types.SubscriptionsAcknowledgedNotificationParams(
                notifications=types.SubscriptionFilter(), _meta=meta
            )
        ),
        related_request_id=ctx.request_id,
    )
    return types.SubscriptionsListenResult(_meta=meta)


def check_accepts(scope: Scope, method: str) -> None:
    """Refuse a listener that cannot take a stream; the SDK's own refusal has no body.

    Raises:
        Refused: 406; an answer to this method is an event stream in every mode.
    """
    if method != METHOD or header(scope, b"mcp-protocol-version") not in MODERN_PROTOCOL_VERSIONS:
        return
    _, takes_events = check_accept_headers(Request(scope))
    if not takes_events:
        msg = "The answer is a stream; send `Accept: application/json, text/event-stream`."
        raise Refused(406, INVALID_REQUEST, msg)
