"""Which hosts and origins may reach the MCP endpoints (DNS rebinding, hostile pages)."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from app.edge.asgi import header
from app.edge.mcp.rpc import INVALID_REQUEST, Refused

if TYPE_CHECKING:
    from app.edge.asgi import Scope

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class Origins:
    """The public address and loopback."""

    def __init__(self, public_url: str) -> None:
        self._host = urlsplit(public_url).hostname or ""
        self._own = _origin(public_url)

    def check(self, scope: Scope, *, any_origin: bool = False) -> None:
        """Let a request pass whose `Host` is ours and whose `Origin`, where there is one, is allowed.

        Args:
            scope: the request.
            any_origin: pages of every origin may call, since nothing here depends on who does.

        Raises:
            Refused: 421 or 403.
        """
        host = _hostname("//" + (header(scope, b"host") or ""))
        if host != self._host and host not in _LOOPBACK:
            msg = "This host name is not served here; use the address that the operator set as PUBLIC_URL."
            raise Refused(421, INVALID_REQUEST, msg)
        origin = None if any_origin else header(scope, b"origin")
        if origin is not None and _origin(origin) != self._own and _hostname(origin) not in _LOOPBACK:
            raise Refused(403, INVALID_REQUEST, "Pages of this origin may not call this endpoint.")


def _hostname(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _origin(url: str) -> str:
    try:
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.netloc}".lower()
    except ValueError:
        return ""
