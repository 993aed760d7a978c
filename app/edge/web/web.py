"""What all pages share: the templates, the secret that forms are signed with, the rules of cookies and origins."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import jinja2

from app.edge.address import Addresses
from app.edge.asgi import header
from app.edge.web import static
from app.edge.web.wording import LEASED, advice
from app.kit.secrets import keyed_digest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.responses import Response

    from app.edge.asgi import Scope
    from app.edge.web.page import Panel
    from app.settings import Settings

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
SESSION_COOKIE = "session"
CSRF_COOKIE = "csrf"


@dataclass(frozen=True, slots=True)
class Cookie:
    """A cookie to set: its plain name, its value, and its life in seconds (0: until the browser closes)."""

    name: str
    value: str
    seconds: int = 0


def templates_folder() -> Path:
    """Give the folder of the templates that all pages share."""
    return Path(__file__).with_name("templates")


class Web:
    """The pages' side of the settings; one per application, found as `request.app.state.web`."""

    def __init__(
        self, settings: Settings, secret_key: str, folders: Iterable[Path], panels: Iterable[Panel] = ()
    ) -> None:
        self.panels = sorted(panels, key=lambda panel: panel.order)
        self.product = settings.product_name
        self.url = settings.url
        self.secure = settings.url.startswith("https://")
        self.max_body_bytes = settings.max_body_bytes
        self.addresses = Addresses(settings.trusted_proxies)
        self._insecure_http = settings.insecure_http
        self._public_host = urlsplit(settings.public_url).hostname if settings.public_url else None
        self._secret_key = secret_key
        self.templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader([str(folder) for folder in folders]),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self.templates.filters["advice"] = advice
        self.templates.globals.update(
            product=self.product, site_url=self.url, static=static.url, once=once, why_leased=LEASED
        )

    # -- where pages may be served ----------------------------------------------------------------------------------

    def serves(self, scope: Scope) -> bool:
        """Tell whether cookies may travel: over https, or on this machine alone, unless the operator insists."""
        if self.secure or self._insecure_http:
            return True
        return self.on_loopback(scope) and (self._public_host is None or self._public_host in LOOPBACK)

    def on_loopback(self, scope: Scope) -> bool:
        """Tell whether the address that the browser shows is this machine."""
        return _hostname(header(scope, b"host")) in LOOPBACK

    def is_own_origin(self, scope: Scope) -> bool:
        """Tell whether the browser says that one of our own pages sent a request.

        `Sec-Fetch-Site` decides where there is one: pages that send no referrer give the origin `null`.
        """
        site = header(scope, b"sec-fetch-site")
        origin = header(scope, b"origin")
        if site is not None:
            return site == "same-origin" and (origin in (None, "null") or self._is_own(origin, scope))
        return self._is_own(origin, scope)

    def _is_own(self, origin: str | None, scope: Scope) -> bool:
        if not origin:
            return False
        try:
            parts = urlsplit(origin.lower())
        except ValueError:
            return False
        if parts.scheme not in ("http", "https") or not parts.netloc:
            return False
        ours = urlsplit(self.url.lower())
        if (parts.scheme, parts.netloc) == (ours.scheme, ours.netloc):
            return True
        # The same machine by another name (localhost for 127.0.0.1): the browser's own address must agree.
        return not self.secure and parts.netloc == (header(scope, b"host") or "").lower()

    # -- cookies ----------------------------------------------------------------------------------------------------

    def cookie_name(self, name: str) -> str:
        """Name a cookie on the wire: with `__Host-`, no other host and no plain http can set it."""
        return f"__Host-{name}" if self.secure else name

    def cookie(self, scope: Scope, name: str) -> str | None:
        """Read a cookie; one that is sent twice is none."""
        wanted = self.cookie_name(name)
        found: list[str] = []
        for pair in (header(scope, b"cookie") or "").replace(",", ";").split(";"):
            key, mark, value = pair.strip().partition("=")
            if mark and key == wanted:
                found.append(value)
        return found[0] if len(found) == 1 and self.serves(scope) else None

    def set_cookie(self, response: Response, cookie: Cookie) -> None:
        """Send a cookie that scripts cannot read and other sites' forms do not bring."""
        response.set_cookie(
            self.cookie_name(cookie.name),
            cookie.value,
            max_age=cookie.seconds or None,
            path="/",
            secure=self.secure,
            httponly=True,
            samesite="lax",
        )

    def clear_cookie(self, response: Response, name: str) -> None:
        """Take a cookie back."""
        response.delete_cookie(self.cookie_name(name), path="/", secure=self.secure, httponly=True, samesite="lax")

    # -- signatures -------------------------------------------------------------------------------------------------

    def sign(self, purpose: str, value: str) -> str:
        """Sign a value for one purpose."""
        return keyed_digest(self._secret_key, f"web/{purpose}", value).hex()


def once() -> str:
    """Make up what a form is told by when it is sent twice."""
    return secrets.token_urlsafe(16)


def _hostname(host: str | None) -> str | None:
    try:
        return urlsplit(f"//{host or ''}").hostname
    except ValueError:
        return None
