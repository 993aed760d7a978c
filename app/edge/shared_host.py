"""A host of its own for public links (`LINKS_URL`): nothing else of the service is served there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from app.edge.asgi import header, send_bytes

if TYPE_CHECKING:
    from app.edge.asgi import Receive, Scope, Send

_OPEN = ("/s/", "/static/", "/livez", "/robots.txt")


class SharedHost:
    """Answers 404 to everything but shared pages where the request names the host of public links."""

    def __init__(self, app: Any, url: str) -> None:
        self._app = app
        self._host = urlsplit(url).netloc.lower()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] == "http" and (header(scope, b"host") or "").lower() == self._host:
            path: str = scope["path"]
            if not path.startswith(_OPEN):
                await send_bytes(send, 404, [(b"content-type", b"text/plain; charset=utf-8")], b"Not here.\n")
                return
        await self._app(scope, receive, send)
