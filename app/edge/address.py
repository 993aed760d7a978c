"""Which address a request comes from: the peer's, or what trusted proxies say (`TRUSTED_PROXIES`)."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from app.edge.asgi import header

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.edge.asgi import Scope

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
UNKNOWN = "unknown"
_MAX_HOPS = 10
_IPV6_PREFIX = 64


class Addresses:
    """Reads `X-Forwarded-For` from its right end, as far as each hop is one of the operator's proxies."""

    def __init__(self, trusted: Iterable[str]) -> None:
        self._trusted: list[Network] = [ipaddress.ip_network(text.strip(), strict=False) for text in trusted]

    def of(self, scope: Scope) -> str:
        """Give the caller's address."""
        peer = (scope.get("client") or (UNKNOWN,))[0]
        if not self._trusts(peer):
            return str(peer)
        hops = [hop.strip() for hop in (header(scope, b"x-forwarded-for") or "").split(",") if hop.strip()]
        for hop in reversed(hops[-_MAX_HOPS:]):
            if _parsed(hop) is None:  # a proxy of ours never writes this: stop at what is certain
                break
            peer = hop
            if not self._trusts(hop):
                break
        return str(peer)

    def subject(self, scope: Scope) -> str:
        """Give what limits are counted by: the address, or the network that one IPv6 subscriber holds."""
        address = _parsed(self.of(scope))
        if isinstance(address, ipaddress.IPv6Address):
            mapped = address.ipv4_mapped
            return str(mapped or ipaddress.ip_network((address, _IPV6_PREFIX), strict=False))
        return str(address or UNKNOWN)

    def _trusts(self, text: str) -> bool:
        address = _parsed(text)
        return address is not None and any(address in network for network in self._trusted)


def _parsed(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
