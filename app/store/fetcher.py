"""The one guarded fetcher: every address that a user, a client or a document supplied is fetched by it.

The name is resolved once, all its addresses must be public, and the connection goes to the address that was checked,
so that a name which changes its mind leads nowhere. Redirects pass the same checks. All refusals are one error with
one text: nobody learns from it what listens inside.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import zlib
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING, ClassVar, Literal
from urllib.parse import urljoin

import httpx2

from app.kit.addresses import IPAddress, Target, is_public, parse_target
from app.kit.errors import AppError, Kind

if TYPE_CHECKING:
    import ssl

log = logging.getLogger(__name__)

Resolve = Callable[[str, int], Awaitable[list[str]]]
Fault = Literal["large", "redirects"]
"""What a server did that its askers may be told: its answer was too large, or it only sent them on."""
Allow = Callable[[IPAddress, int], bool]

USER_AGENT = "context-repo"
"""What servers, and their robots.txt, know this program as."""

_NOT_MODIFIED = 304
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_ADDRESSES = 3
_RATIO_FROM = 64 * 1024  # small texts compress better than any bomb


class FetchRefused(AppError):
    """The address was not fetched, or what it answered was not taken; the message never tells why.

    What a public server itself answered may be told by who asked: its `status`, the `media_type` that was not wanted,
    or its `fault`. `timed_out` says that it took too long.
    """

    kind = Kind.UPSTREAM
    reason: ClassVar[str] = "UPSTREAM_FAILED"

    def __init__(
        self,
        *,
        status: int | None = None,
        media_type: str | None = None,
        fault: Fault | None = None,
        timed_out: bool = False,
    ) -> None:
        super().__init__("This address could not be fetched: it must be public, answer in time, and not be too large.")
        self.status = status
        self.media_type = media_type
        self.fault = fault
        self.timed_out = timed_out


class _Refused(Exception):
    """Why it really failed, for the log; and what the server answered, where it did."""

    def __init__(
        self, why: str, *, status: int | None = None, media_type: str | None = None, fault: Fault | None = None
    ) -> None:
        super().__init__(why)
        self.status = status
        self.media_type = media_type
        self.fault = fault


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a fetch may cost, and what it may bring: an empty `types` takes every media type.

    `trusted` is for an address that the operator named in the settings: it may be private and on any port.
    """

    types: frozenset[str]
    max_bytes: int = 5 * 1024 * 1024
    seconds: float = 10.0
    connect_seconds: float = 2.0
    redirects: int = 5
    ratio: int = 100
    schemes: frozenset[str] = frozenset({"http", "https"})
    trusted: bool = False


@dataclass(frozen=True, slots=True)
class Fetched:
    """A document: where it was found in the end, its media type, its headers and its decoded bytes.

    `unchanged`: the server answered 304 to the validators that were sent, and there is no body.
    """

    url: str
    media_type: str
    headers: httpx2.Headers
    body: bytes
    unchanged: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of each server on the way: within which bounds, with which validators, and whether one may.

    `known` are `If-None-Match` and `If-Modified-Since`; `approve` is told every address before it is asked, and raises
    a refusal of its own where it must not be.
    """

    bounds: Bounds
    known: Mapping[str, str] = field(default_factory=dict)
    approve: Callable[[str], Awaitable[None]] | None = None


async def system_addresses(host: str, port: int) -> list[str]:
    """Ask the system's resolver for all addresses of a name."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


def _nothing(address: IPAddress, port: int) -> bool:  # noqa: ARG001  the rule of production: no exceptions
    return False


def allowing(places: Iterable[str]) -> Allow:
    """Let exactly these `address:port` pass although they are not public: what an operator named in the settings.

    Raises:
        ValueError: one of them is no address with a port.
    """
    named: set[tuple[IPAddress, int]] = set()
    for place in places:
        host, _, port = place.rpartition(":")
        try:
            named.add((ip_address(host.strip("[]")), int(port)))
        except ValueError:
            raise ValueError(f"FETCH_ALLOW takes ADDRESS:PORT, such as 10.0.0.5:8080, not {place!r}") from None
    return lambda address, port: (address, port) in named


class Fetcher:
    """Fetches documents; `resolve`, `allow` (addresses that pass unchecked) and `verify` are for tests."""

    def __init__(
        self,
        resolve: Resolve = system_addresses,
        allow: Allow = _nothing,
        verify: ssl.SSLContext | bool = True,  # noqa: FBT001, FBT002  the client library's own word
    ) -> None:
        self._resolve = resolve
        self._allow = allow
        self._verify = verify

    async def get(self, url: str, bounds: Bounds) -> Fetched:
        """Fetch a document.

        Raises:
            FetchRefused: for whatever reason.
        """
        return await self.fetch(url, Request(bounds))

    async def fetch(self, url: str, request: Request) -> Fetched:
        """Fetch a document, if the servers on the way may be asked and it is not the known one.

        Raises:
            FetchRefused: for whatever reason; `approve` may raise its own refusals.
        """
        try:
            async with asyncio.timeout(request.bounds.seconds):
                return await self._follow(url, request)
        except (TimeoutError, httpx2.TimeoutException):
            log.info("a fetch took too long")
            raise FetchRefused(timed_out=True) from None
        except _Refused as error:
            log.info("a fetch was refused: %s", error)
            raise FetchRefused(status=error.status, media_type=error.media_type, fault=error.fault) from None
        except (OSError, ValueError, httpx2.HTTPError, httpx2.InvalidURL, zlib.error) as error:
            log.info("a fetch failed: %s", type(error).__name__)
            raise FetchRefused from None

    async def _follow(self, url: str, request: Request) -> Fetched:
        secure, bounds = False, request.bounds
        for _ in range(bounds.redirects + 1):
            target = parse_target(url, local_names=bounds.trusted)
            if target is None or target.scheme not in bounds.schemes or (secure and target.scheme != "https"):
                raise _Refused("not an address that is fetched")
            secure = target.scheme == "https"
            addresses = await self._checked(target, bounds)
            if request.approve is not None:
                await request.approve(target.url)
            found = await self._ask_first(target, addresses, request)
            if isinstance(found, Fetched):
                return found
            url = urljoin(target.url, found)
        raise _Refused("too many redirects", fault="redirects")

    async def _checked(self, target: Target, bounds: Bounds) -> list[IPAddress]:
        """Resolve a host and check all of its addresses."""
        if target.literal is not None:
            found = [target.literal]
        else:
            names = await self._resolve(target.host, target.port)
            found = [ip_address(name.partition("%")[0]) for name in names]
        if not found:
            raise _Refused("no address")
        if not bounds.trusted and not all(self._is_open(address, target) for address in found):
            raise _Refused("an address that is not public")
        return found

    def _is_open(self, address: IPAddress, target: Target) -> bool:
        return (is_public(address) and target.uses_default_port) or self._allow(address, target.port)

    def leads_inside(self, url: str) -> bool:
        """Tell from an address as it stands, asking nobody, that it is never fetched: a local name or a private place.

        What a name of the Internet leads to is known only later, and told to nobody.
        """
        target = parse_target(url)
        if target is None:
            return parse_target(url, local_names=True) is not None
        return target.literal is not None and not self._is_open(target.literal, target)

    async def _ask_first(self, target: Target, addresses: list[IPAddress], wanted: Request) -> Fetched | str:
        """Ask the first of the checked addresses that takes a connection: a name may have one that leads nowhere."""
        *before, last = addresses[:_ADDRESSES]
        for address in before:
            with contextlib.suppress(httpx2.ConnectError, httpx2.ConnectTimeout):
                return await self._ask(target, address, wanted)
        return await self._ask(target, last, wanted)

    async def _ask(self, target: Target, address: IPAddress, wanted: Request) -> Fetched | str:
        """Send one request to a checked address; returns the document, or where it has moved."""
        bounds = wanted.bounds
        timeout = httpx2.Timeout(bounds.seconds, connect=bounds.connect_seconds)
        place = f"[{address}]" if address.version == 6 else str(address)  # noqa: PLR2004
        async with httpx2.AsyncClient(
            verify=self._verify,
            trust_env=False,
            timeout=timeout,
            limits=httpx2.Limits(max_connections=1, max_keepalive_connections=0),
        ) as client:
            request = httpx2.Request(
                "GET",
                f"{target.scheme}://{place}:{target.port}{target.path}",
                headers={
                    "host": target.authority,
                    "accept": ", ".join(sorted(bounds.types)) or "*/*",
                    "accept-encoding": "gzip",
                    "user-agent": USER_AGENT,
                    **wanted.known,
                },
                extensions={"sni_hostname": target.host, "timeout": timeout.as_dict()},
            )
            response = await client.send(request, stream=True)
            try:
                if response.status_code in _REDIRECTS and "location" in response.headers:
                    return response.headers["location"]
                return await _document(target, response, wanted)
            finally:
                await response.aclose()


async def _document(target: Target, response: httpx2.Response, wanted: Request) -> Fetched:
    bounds = wanted.bounds
    if response.status_code == _NOT_MODIFIED and wanted.known:
        return Fetched(target.url, "", response.headers, b"", unchanged=True)
    if response.status_code != 200:  # noqa: PLR2004
        raise _Refused(f"status {response.status_code}", status=response.status_code)
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if bounds.types and media_type not in bounds.types:
        raise _Refused("media type", media_type=media_type)
    body = await _body(response, bounds)
    return Fetched(target.url, media_type, response.headers, body)


async def _body(response: httpx2.Response, bounds: Bounds) -> bytes:
    """Read a body and unpack it, never holding more than the bound."""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in {"identity", "gzip"}:
        raise _Refused("content encoding")
    unpack = zlib.decompressobj(zlib.MAX_WBITS | 16) if encoding == "gzip" else None
    body = bytearray()
    received = 0
    async for chunk in response.aiter_raw():
        received += len(chunk)
        body += chunk if unpack is None else unpack.decompress(chunk, bounds.max_bytes + 1 - len(body))
        if received > bounds.max_bytes or len(body) > bounds.max_bytes:
            raise _Refused("too large", fault="large")
        if len(body) > max(_RATIO_FROM, received * bounds.ratio):
            raise _Refused("packed too tightly")
    if unpack is not None and not unpack.eof:
        raise _Refused("the packed body is cut short")
    return bytes(body)
