"""One examination: what is sent, what comes back, and how both are told without secrets."""

from __future__ import annotations

import asyncio
import json
import re
import ssl
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx2

if TYPE_CHECKING:
    from collections.abc import Mapping

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
SURFACES = ("/mcp/all", "/mcp", "/grok-mcp", "/v1")
REQUEST_SECONDS = 10.0
MAX_BODY = 4 * 1024 * 1024
_EXCERPT = 240
_REDIRECTS = range(300, 400)
_TOLD_HEADERS = ("content-type", "location", "allow", "www-authenticate", "retry-after", "server")
_SECRET_FIELDS = re.compile(
    r'("(?:registration_access_token|client_secret|access_token|refresh_token|client_id|registration_client_uri)"'
    r'\s*:\s*")[^"]*"'
)
_SECRET_TEXTS = re.compile(r"gm_[A-Za-z0-9_-]{6,}|(?<=Bearer )(?!resource_metadata=)[A-Za-z0-9._~+/-]{16,}=*")


class Failed(Exception):
    """A step found a fault: what is wrong, and what to do about it."""

    def __init__(self, message: str, advice: str) -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice


class Skipped(Exception):
    """A step cannot say anything: why."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    status: int
    headers: httpx2.Headers
    text: str
    complete: bool = True

    @property
    def is_html(self) -> bool:
        """Whether a page for people came back."""
        return "html" in self.headers.get("content-type", "") or self.text.lstrip()[:9].lower().startswith("<!doctype")

    @property
    def is_redirect(self) -> bool:
        """Whether the client is sent elsewhere."""
        return self.status in _REDIRECTS

    def json(self) -> dict[str, Any]:
        """Read a JSON object; {} when it is none."""
        try:
            found = json.loads(self.text)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    def told(self) -> str:
        """Describe it in a line or two, without secrets."""
        headers = [f"{name}: {self.headers[name]}" for name in _TOLD_HEADERS if name in self.headers]
        excerpt = " ".join(self.text[: _EXCERPT * 4].split())
        more = "…" if len(excerpt) > _EXCERPT else ""
        body = f" | {clean(excerpt)[:_EXCERPT]}{more}" if excerpt else ""
        return clean(f"{self.status}" + "".join(f" | {header}" for header in headers)) + body


def clean(text: str) -> str:
    """Take out what could be a secret."""
    return _SECRET_TEXTS.sub("…", _SECRET_FIELDS.sub(r'\1…"', text))


def base_of(typed: str) -> str:
    """Read an address that a person typed: the service's own, or one of its surfaces, with or without a slash.

    Raises:
        ValueError: it is no http address.
    """
    text = typed.strip()
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
        msg = "type an address such as https://context.example.com (no name or password in it)"
        raise ValueError(msg)
    if parts.query or parts.fragment:
        msg = "the address may have no ? and no #"
        raise ValueError(msg)
    _ = parts.port  # raises ValueError by itself
    bare = text.rstrip("/")
    return next((bare.removesuffix(path).rstrip("/") for path in SURFACES if bare.endswith(path)), bare)


@dataclass
class Probe:
    """Sends the steps' requests and remembers what went over the wire."""

    http: httpx2.AsyncClient
    base: str
    api_key: str = ""
    write: bool = False
    request_seconds: float = REQUEST_SECONDS
    sent: list[str] = field(default_factory=list)
    got: list[str] = field(default_factory=list)
    known: dict[str, Any] = field(default_factory=dict)
    """What earlier steps found, for later ones."""

    @property
    def is_safe(self) -> bool:
        """Whether a credential may travel: over https, or to this machine."""
        parts = urlsplit(self.base)
        return parts.scheme == "https" or parts.hostname in LOOPBACK

    def url(self, path_or_url: str) -> str:
        """Give a full address."""
        return path_or_url if "://" in path_or_url else self.base + path_or_url

    def is_ours(self, url: str) -> bool:
        """Tell whether an address that the service named is of the same origin: no other is called."""
        here, there = urlsplit(self.base), urlsplit(url)
        return (here.scheme, here.netloc.lower()) == (there.scheme, there.netloc.lower())

    async def send(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: Any = None,
        form: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send one request, follow no redirect.

        Raises:
            Failed: nothing came back, or the service names an address elsewhere.
        """
        url = self.url(path)
        if not self.is_ours(url):
            raise Failed(f"The service names the address {url}, which is not below {self.base}.", PUBLIC_URL_DIFFERS)
        self.sent.append(_told_request(method, url, headers, body if form is None else form, params))
        request = self.http.build_request(method, url, headers=headers, json=body, data=form, params=params)
        try:
            reply = await self._exchange(request)
        except TimeoutError as error:
            raise Failed(f"No answer within {self.request_seconds:.0f} s.", NO_ANSWER) from error
        except httpx2.HTTPError as error:
            raise _unreachable(error) from error
        self.got.append(reply.told())
        return reply

    async def _exchange(self, request: httpx2.Request) -> Reply:
        """Read an answer up to a limit of time and size; a body that does not end is cut off."""
        async with asyncio.timeout(self.request_seconds):
            response = await self.http.send(request, stream=True)
        parts: list[bytes] = []
        complete = False
        try:
            async with asyncio.timeout(self.request_seconds):
                async for part in response.aiter_bytes():
                    parts.append(part)
                    if sum(map(len, parts)) > MAX_BODY:
                        break
                else:
                    complete = True
        except TimeoutError:
            pass
        finally:
            await response.aclose()
        text = b"".join(parts)[:MAX_BODY].decode(errors="replace")
        return Reply(response.status_code, response.headers, text, complete)


def _told_request(
    method: str, url: str, headers: Mapping[str, str] | None, body: Any, params: Mapping[str, str] | None
) -> str:
    shown = [
        f"{name}: {value.split(' ')[0]} …" if name.lower() == "authorization" else f"{name}: {value}"
        for name, value in (headers or {}).items()
    ]
    query = "?" + "&".join(f"{name}={value}" for name, value in params.items()) if params else ""
    text = "" if body is None else json.dumps(body if not hasattr(body, "items") else dict(body))
    more = "…" if len(text) > _EXCERPT else ""
    return clean(" | ".join([f"{method} {url}{query}", *shown, *([text[:_EXCERPT] + more] if text else [])]))


NO_ANSWER = "A firewall drops the request, or a proxy holds answers back: turn off its buffering for these paths."
PUBLIC_URL_DIFFERS = (
    "PUBLIC_URL of the service differs from the address that you typed: set it to the address that clients use "
    "(scheme, host and port alike, no slash at its end), or type the address that PUBLIC_URL names."
)
_PROXY_PAGE = (
    "A page for people came back: a proxy, a login wall or a web application firewall answers before the service; "
    "let these paths through to it unchanged."
)


_NOT_OURS = "The answer is not the service's own: check that the path is passed on to it unchanged."
_GATEWAY = "The proxy is up but does not reach the service, or the service is not ready: see its log and /readyz."
_STATUSES = {
    421: PUBLIC_URL_DIFFERS,
    429: "Too many requests from this address; wait a minute and run it again.",
    502: _GATEWAY,
    503: _GATEWAY,
    504: _GATEWAY,
}


def _unreachable(error: httpx2.HTTPError) -> Failed:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            advice = "Check the certificate: its host name, its end date, and that the whole chain is sent."
            if "WRONG_VERSION_NUMBER" in str(cause):
                advice = "No TLS is spoken at this port: type http://, or the port where the certificate is."
            return Failed("TLS failed.", f"{advice} ({getattr(cause, 'verify_message', '') or cause})")
        cause = cause.__cause__ or cause.__context__
    advice = "Check the name, the port, and that the service runs and listens there (HOST and PORT)."
    return Failed(f"The connection failed ({type(error).__name__}).", advice)


def likely(reply: Reply, otherwise: str = "") -> str:
    """Name the likely cause of an answer that is not the expected one."""
    if reply.is_redirect:
        return (
            f"The answer is a redirect to {reply.headers.get('location', '?')}: a proxy adds or removes a slash or "
            "changes the scheme. Clients drop the body or the credential on the way; serve the path itself."
        )
    known = _STATUSES.get(reply.status)
    if known is None and reply.is_html:
        known = _PROXY_PAGE
    if known is None and not reply.complete:
        known = NO_ANSWER
    return known or otherwise or _NOT_OURS


def want(reply: Reply, statuses: tuple[int, ...], otherwise: str = "") -> None:
    """Check a status.

    Raises:
        Failed: it is another one.
    """
    if reply.status not in statuses:
        expected = " or ".join(map(str, statuses))
        raise Failed(f"Expected {expected}, got {reply.status}.", likely(reply, otherwise))


def want_json(reply: Reply, statuses: tuple[int, ...] = (200,), otherwise: str = "") -> dict[str, Any]:
    """Check a status and read the JSON object.

    Raises:
        Failed: it is another status, or no JSON object.
    """
    want(reply, statuses, otherwise)
    found = reply.json()
    if not found or reply.is_html:
        raise Failed("The answer is no JSON object.", likely(reply, otherwise))
    return found
