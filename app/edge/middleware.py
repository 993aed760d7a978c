"""Pure-ASGI middleware: request id, security headers, CORS, access log. Never policy."""

from __future__ import annotations

import logging
import re
import secrets
import time
from typing import TYPE_CHECKING, Any

from app.edge.asgi import header, printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.edge.asgi import Message, Receive, Scope, Send

log = logging.getLogger("app.access")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
_UNPRINTABLE = re.compile(rb"[^ -~]")

_NOSNIFF = (b"x-content-type-options", b"nosniff")
_PAGE_MARK = b"content-security-policy"
_ALWAYS = [
    _NOSNIFF,
    (b"referrer-policy", b"no-referrer"),
    (b"access-control-allow-origin", b"*"),
    (
        b"access-control-expose-headers",
        (
            b"ETag, Location, Retry-After, WWW-Authenticate, X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, "
            b"X-RateLimit-Reset, Idempotency-Replayed, Mcp-Session-Id"
        ),
    ),
]
_HSTS = (b"strict-transport-security", b"max-age=31536000")
_PREFLIGHT = [
    (b"access-control-allow-methods", b"GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"),
    (
        b"access-control-allow-headers",
        (
            b"Authorization, Content-Type, Accept, If-Match, If-None-Match, Idempotency-Key, X-Agent-Id, X-Request-Id, "
            b"X-ContextRepo-Lease-Id, X-ContextRepo-Lease-Fence, MCP-Protocol-Version, Mcp-Method, Mcp-Name, "
            b"Mcp-Session-Id, Last-Event-ID"
        ),
    ),
    (b"access-control-max-age", b"86400"),
]


class Envelope:
    """Wraps every response: a request id in and out, the standing headers, one access line, CORS preflight.

    Whatever texts headers were made of, they leave as printable ASCII: clients give up on others, or split at them.

    `Access-Control-Allow-Origin: *` is safe here: credentials travel in a header that a page must hold itself, and a
    browser shows no answer to a request with cookies to another site under `*`. Pages, which are known by their content
    security policy, bring their own headers and are nobody else's to read, unless they say so.
    """

    def __init__(self, app: Any, *, https: bool) -> None:
        self._app = app
        self._headers = [*_ALWAYS, _HSTS] if https else list(_ALWAYS)
        self._page_headers = [_NOSNIFF, _HSTS] if https else [_NOSNIFF]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = header(scope, b"x-request-id")
        request_id = given if given and _REQUEST_ID.fullmatch(given) else secrets.token_hex(12)
        scope["request_id"] = request_id
        if scope["method"] == "OPTIONS" and header(scope, b"access-control-request-method"):
            headers = [*self._headers, *_PREFLIGHT, (b"x-request-id", request_id.encode())]
            await send({"type": "http.response.start", "status": 204, "headers": headers})
            await send({"type": "http.response.body", "body": b""})
            return
        started = time.perf_counter()
        status = 0

        async def send_wrapped(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                given = _readable(message.get("headers", ()))
                standing = self._page_headers if any(name == _PAGE_MARK for name, _ in given) else self._headers
                message["headers"] = [*given, *standing, (b"x-request-id", request_id.encode())]
            await send(message)

        try:
            await self._app(scope, receive, send_wrapped)
        finally:
            if log.isEnabledFor(logging.INFO):
                _log_access(scope, request_id, status, time.perf_counter() - started)


def _readable(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    return [
        (name, printable(value.decode(errors="ignore")).encode() if _UNPRINTABLE.search(value) else value)
        for name, value in headers
    ]


def _log_access(scope: Scope, request_id: str, status: int, seconds: float) -> None:
    route = getattr(scope.get("route"), "path", "-")  # the template: paths may carry what should not be logged
    log.info(
        "request",
        extra={
            "request_id": request_id,
            "method": scope["method"],
            "route": route,
            "status": status,
            "ms": round(seconds * 1000, 2),
        },
    )
