"""Which resources tokens may be for (RFC 8707): the surfaces of this service, each by its public URL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Sequence

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Targets:
    """The service's address and the paths of its surfaces; the first path is meant when a client names none."""

    url: str
    paths: tuple[str, ...]

    @property
    def default(self) -> str:
        """The resource of clients that know nothing of resources."""
        return self.url + self.paths[0]

    def find(self, named: Sequence[str]) -> str | None:
        """Give the one resource that a client named, in its canonical form; None when it is unknown or several."""
        found = {self._canonical(text) for text in named} or {self.default}
        return found.pop() if len(found) == 1 else None

    def _canonical(self, text: str) -> str | None:
        """Compare by scheme, host, port and path; a closing slash does not matter, the bare origin means the default.

        The names of this machine are one host, when the service is on this machine.
        """
        try:
            parts, ours = urlsplit(text.strip()), urlsplit(self.url)
            same = _place(parts.scheme, parts.hostname, parts.port) == _place(ours.scheme, ours.hostname, ours.port)
        except ValueError:
            return None
        if not same or parts.fragment or parts.query or "@" in parts.netloc:
            return None
        base = ours.path.rstrip("/")
        path = parts.path.rstrip("/")
        if path == base:
            return self.default
        return next((self.url + known for known in self.paths if path == base + known), None)


def _place(scheme: str, host: str | None, port: int | None) -> tuple[str, str, int]:
    name = (host or "").removesuffix(".")
    return scheme.lower(), "loopback" if name in LOOPBACK else name, port or _PORTS.get(scheme.lower(), 0)
