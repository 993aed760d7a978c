"""Which network addresses are public, and which URLs a server may be asked to fetch at all."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import SplitResult, quote, urlsplit

import idna

IPAddress = IPv4Address | IPv6Address

# `is_global` differs between versions of Python, and lets some of these through in each of them.
_DENIED_4 = [
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",
        "100.64.0.0/10",
        "168.63.129.16/32",  # a cloud's host agent inside a public range
        "192.0.0.0/24",
        "192.88.99.0/24",
        "198.18.0.0/15",
        "224.0.0.0/3",
    )
]
_PUBLIC_6 = IPv6Network("2000::/3")
_DENIED_6 = [
    IPv6Network(network)
    for network in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")  # protocols, documentation, 6to4
]
_MAPPED = IPv6Network("::ffff:0:0/96")
_NAT64 = IPv6Network("64:ff9b::/96")

_PORTS = {"http": 80, "https": 443}
_ODD = re.compile(r"[^\x21-\x7e]|[\\^`{|}<>\"]")
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_MAX_URL = 2048
_MAX_HOST = 253
_LOCAL_NAMES = ("localhost", "local", "internal", "intranet", "lan", "home.arpa")


def is_public(address: IPAddress) -> bool:
    """Tell whether an address belongs to the public Internet; IPv4 inside of IPv6 is judged as IPv4."""
    if isinstance(address, IPv6Address):
        if address in _MAPPED or address in _NAT64:
            return is_public(IPv4Address(int(address) & 0xFFFFFFFF))
        return address.is_global and address in _PUBLIC_6 and not any(address in network for network in _DENIED_6)
    return address.is_global and not address.is_multicast and not any(address in network for network in _DENIED_4)


@dataclass(frozen=True, slots=True)
class Target:
    """A URL taken apart once: nothing is parsed again on the way to the connection."""

    scheme: str
    host: str
    port: int
    path: str
    literal: IPAddress | None

    @property
    def url(self) -> str:
        """The URL in its normal form."""
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def authority(self) -> str:
        """The host as the `Host` header names it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def uses_default_port(self) -> bool:
        """Whether the port is the scheme's own."""
        return self.port == _PORTS[self.scheme]


def parse_target(url: str, *, local_names: bool = False) -> Target | None:
    """Take a URL apart; None for everything but plain http and https addresses of a host.

    Args:
        local_names: also take names that only this machine or network knows.
    """
    if not 0 < len(url) <= _MAX_URL or _ODD.search(url):
        return None
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not _is_plain(url, parts):
        return None
    host = (parts.hostname or "").removesuffix(".")
    literal = _literal(host)
    if literal is None and not _is_name(host, local=local_names):
        return None
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, host, _PORTS[parts.scheme] if port is None else port, path, literal)


def in_ascii(url: str) -> str:
    """Write an address as it is asked for: letters beyond ASCII as `xn--…` in the host's name, encoded behind it.

    Of a name that IDNA 2008 does not know, or that is more than a name, nothing is changed: `parse_target` refuses it.
    What a name becomes is judged there as well: `①②⑦.⓪.⓪.①` is an address of this machine.
    """
    if len(url) > _MAX_URL:
        return url
    try:
        parts = urlsplit(url)
        host, colon, port = parts.netloc.partition(":")
        if not host.isascii():
            name = idna.encode(host, uts46=True).decode()
            url = parts._replace(netloc=f"{name}{colon}{port}").geturl()
    except ValueError:
        return url
    return quote(url, safe="!#$%&'()*+,/:;=?@[]~-._")


def _is_plain(url: str, parts: SplitResult) -> bool:
    """Refuse user names, encoded hosts, and what two parsers may read differently."""
    return (
        url[len(parts.scheme) :].startswith("://")
        and bool(parts.hostname)
        and "@" not in parts.netloc
        and "%" not in parts.netloc
        and parts.port != 0
    )


def _literal(host: str) -> IPAddress | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _is_name(host: str, *, local: bool) -> bool:
    """Accept DNS names; a last label of digits or `0x…` is a number to some resolvers, so it is refused."""
    labels = host.split(".")
    if len(host) > _MAX_HOST or not all(_LABEL.fullmatch(label) for label in labels):
        return False
    if labels[-1].isdigit() or labels[-1].startswith("0x"):
        return False
    return local or not any(host == name or host.endswith(f".{name}") for name in _LOCAL_NAMES)
