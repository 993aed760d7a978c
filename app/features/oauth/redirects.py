"""Where authorization answers may be sent: exact addresses, https or this machine, and a few apps by their scheme."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from app.features.oauth.targets import LOOPBACK

MAX_LENGTH = 2000
APP_SCHEMES = frozenset({"cursor", "vscode", "vscode-insiders", "windsurf"})
"""Editors that take answers by a scheme of their own."""

_ODD = re.compile(r"[^\x21-\x7e]|[\\^`{|}<>\"]")
_DOTS = re.compile(r"(^|/)(\.|%2e){1,2}(/|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Redirect:
    """A redirect address, taken apart once."""

    uri: str
    parts: SplitResult

    @property
    def is_loopback(self) -> bool:
        """Whether it leads to a program on the person's own machine."""
        return self.parts.scheme == "http"

    @property
    def is_app(self) -> bool:
        """Whether it leads to an app by its scheme."""
        return self.parts.scheme in APP_SCHEMES

    @property
    def place(self) -> str:
        """What a person is shown."""
        return f"{self.parts.scheme}:" if self.is_app else self.parts.hostname or ""

    @property
    def origin(self) -> str:
        """What consent is given for, and what a page's `form-action` has to allow."""
        return f"{self.parts.scheme}:" if self.is_app else f"{self.parts.scheme}://{self.parts.netloc}"


def parse_redirect(uri: object) -> Redirect | None:
    """Read an address that a client may register; None for everything else."""
    if not isinstance(uri, str) or not 0 < len(uri) <= MAX_LENGTH or _ODD.search(uri):
        return None
    try:
        parts = urlsplit(uri)
        port = parts.port
    except ValueError:
        return None
    if "#" in uri or "@" in parts.netloc or "%" in parts.netloc or port == 0 or _DOTS.search(parts.path):
        return None
    if not uri.startswith(f"{parts.scheme}://") or not parts.hostname:
        return None
    fits = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
    return Redirect(uri, parts) if fits or parts.scheme in APP_SCHEMES else None


def matches(registered: str, given: str) -> bool:
    """Compare exactly; only the port of a loopback address may differ (RFC 8252 section 7.3)."""
    if registered == given:
        return True
    known, asked = parse_redirect(registered), parse_redirect(given)
    if known is None or asked is None or not (known.is_loopback and asked.is_loopback):
        return False
    return _without_port(known) == _without_port(asked)


def _without_port(redirect: Redirect) -> str:
    """Take the port out of the text itself, so that everything else is still compared exactly."""
    host, port = redirect.parts.netloc, redirect.parts.port
    bare = host.removesuffix(f":{port}") if port is not None else host
    return redirect.uri.replace(host, bare, 1)
