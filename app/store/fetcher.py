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
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urljoin

import httpx2

from app.kit.addresses import IPAddress, Target, is_public, parse_target
from app.kit.errors import AppError, Kind

if TYPE_CHECKING:
    import ssl

log = logging.getLogger(__name__)

Resolve = Callable[[str, int], Awaitable[list[str]]]
Allow = Callable[[IPAddress, int], bool]

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_ADDRESSES = 3
_RATIO_FROM = 64 * 1024  # small texts compress better than any bomb


class FetchRefused(AppError):
    """The address was not fetched, or what it answered was not taken; it is never told why."""

    kind = Kind.UPSTREAM
    reason: ClassVar[str] = "UPSTREAM_FAILED"

    def __init__(self) -> None:
        super().__init__("This address could not be fetched: it must be public, answer in time, and not be too large.")


class _Refused(Exception):
    """Why it really failed, for the log only."""


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
    """A document: where it was found in the end, its media type, its headers and its decoded bytes."""

    url: str
    media_type: str
    headers: httpx2.Headers
    body: bytes


async def system_addresses(host: str, port: int) -> list[str]:
    """Ask the system's resolver for all addresses of a name."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


def _nothing(address: IPAddress, port: int) -> bool:  # noqa: ARG001  the rule of production: no exceptions
    return False


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
        try:
            async with asyncio.timeout(bounds.seconds):
                return await self._follow(url, bounds)
        except (_Refused, OSError, TimeoutError, ValueError, httpx2.HTTPError, httpx2.InvalidURL, zlib.error) as error:
            log.info("a fetch was refused: %s", error if isinstance(error, _Refused) else type(error).__name__)
            raise FetchRefused from None

    async def _follow(self, url: str, bounds: Bounds) -> Fetched:
        secure = False
        for _ in range(bounds.redirects + 1):
            target = parse_target(url, local_names=bounds.trusted)
            if target is None or target.scheme not in bounds.schemes or (secure and target.scheme != "https"):
                raise _Refused("not an address that is fetched")
            secure = target.scheme == "https"
            found = await self._ask_first(target, await self._checked(target, bounds), bounds)
            if isinstance(found, Fetched):
                return found
            url = urljoin(target.url, found)
        raise _Refused("too many redirects")

    async def _checked(self, target: Target, bounds: Bounds) -> list[IPAddress]:
        """Resolve a host and check all of its addresses."""
        if target.literal is not None:
            found = [target.literal]
        else:
            names = await self._resolve(target.host, target.port)
            found = [ip_address(name.partition("%")[0]) for name in names]
        if not found:
            raise _Refused("no address")
        for address in found:
            public = is_public(address) and target.uses_default_port
            if not (public or bounds.trusted or self._allow(address, target.port)):
                raise _Refused("an address that is not public")
        return found

    async def _ask_first(self, target: Target, addresses: list[IPAddress], bounds: Bounds) -> Fetched | str:
        """Ask the first of the checked addresses that takes a connection: a name may have one that leads nowhere."""
        *before, last = addresses[:_ADDRESSES]
        for address in before:
            with contextlib.suppress(httpx2.ConnectError, httpx2.ConnectTimeout):
                return await self._ask(target, address, bounds)
        return await self._ask(target, last, bounds)

    async def _ask(self, target: Target, address: IPAddress, bounds: Bounds) -> Fetched | str:
        """Send one request to a checked address; returns the document, or where it has moved."""
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
                    "user-agent": "context-repo",
                },
                extensions={"sni_hostname": target.host, "timeout": timeout.as_dict()},
            )
            response = await client.send(request, stream=True)
            try:
                if response.status_code in _REDIRECTS and "location" in response.headers:
                    return response.headers["location"]
                return await _document(target, response, bounds)
            finally:
                await response.aclose()


async def _document(target: Target, response: httpx2.Response, bounds: Bounds) -> Fetched:
    if response.status_code != 200:  # noqa: PLR2004
        raise _Refused(f"status {response.status_code}")
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if bounds.types and media_type not in bounds.types:
        raise _Refused("media type")
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
            raise _Refused("too large")
        if len(body) > max(_RATIO_FROM, received * bounds.ratio):
            raise _Refused("packed too tightly")
    if unpack is not None and not unpack.eof:
        raise _Refused("the packed body is cut short")
    return bytes(body)
