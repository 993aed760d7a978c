"""The external issuer: its metadata and the keys that it signs with."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pydantic_core
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, JWKRegistry, OKPKey, RSAKey

from app.kit.errors import Unavailable
from app.store.fetcher import Bounds, Fetcher, FetchRefused

if TYPE_CHECKING:
    from collections.abc import Iterable

log = logging.getLogger(__name__)

VerifyKey = RSAKey | ECKey | OKPKey

FRESH_SECONDS = 600.0
"""A key that the issuer took back is refused after this time, as long as the issuer answers."""
STALE_SECONDS = 24 * 3600.0
"""So long the known keys serve while the issuer is away: its outage signs nobody out."""
AGAIN_SECONDS = 10.0
"""The issuer is not asked more often, whatever key ids callers make up."""

_BOUNDS = Bounds(
    types=frozenset({"application/json", "application/jwk-set+json"}), max_bytes=256 * 1024, seconds=5.0, redirects=0
)
_MAX_KEYS = 50
_MIN_RSA_BITS = 2048
_KINDS = ("RSA", "EC", "OKP")


class Issuer:
    """Finds the keys of one issuer; the operator named it, so that it may live on a private network.

    That trust is for the issuer's own origin: whatever else its metadata names must be public and https.
    """

    def __init__(self, url: str, fetcher: Fetcher) -> None:
        self.url = url
        self._fetcher = fetcher
        self._keys: tuple[VerifyKey, ...] = ()
        self._read_at = -STALE_SECONDS
        self._tried_at = -STALE_SECONDS
        self._failed = False
        self._lock = asyncio.Lock()
        self._refreshing: asyncio.Task[None] | None = None

    async def find(self, kid: str | None) -> list[VerifyKey]:
        """Give the keys that may have signed a token: those of the id, or all when the token names none.

        Raises:
            Unavailable: the issuer does not answer, so that nothing can be told.
        """
        age = time.monotonic() - self._read_at
        found = self._matching(kid)
        if found and age < STALE_SECONDS:
            if age > FRESH_SECONDS and (self._refreshing is None or self._refreshing.done()):
                self._refreshing = asyncio.create_task(self._refresh())
            return found
        await self._refresh()
        found = self._matching(kid)
        if not found and self._failed:
            raise Unavailable("The issuer of this token cannot be asked for its keys just now; retry.", retry_after=5)
        return found

    def _matching(self, kid: str | None) -> list[VerifyKey]:
        return [key for key in self._keys if kid is None or key.kid == kid]

    async def aclose(self) -> None:
        """End a refresh that still runs."""
        if self._refreshing is not None:
            self._refreshing.cancel()
            await asyncio.gather(self._refreshing, return_exceptions=True)

    async def _refresh(self) -> None:
        """Read the keys again, unless it was tried just now; on failure the old ones stay for a while."""
        async with self._lock:
            now = time.monotonic()
            if now - self._tried_at < AGAIN_SECONDS:
                return
            self._tried_at = now
            try:
                self._keys = await self._load()
            except (FetchRefused, ValueError) as error:
                log.warning("the keys of %s could not be read: %s", self.url, error)
                self._failed = True
                if now - self._read_at >= STALE_SECONDS:
                    self._keys = ()
                return
            self._read_at, self._failed = now, False

    async def _load(self) -> tuple[VerifyKey, ...]:
        document = await self._json(await self._jwks_uri())
        listed = document.get("keys")
        if not isinstance(listed, list):
            raise ValueError("there is no list of keys")  # noqa: TRY004  what is wrong is the document
        found = tuple(_usable(listed[:_MAX_KEYS]))
        if not found:
            raise ValueError("no key of it can be used")
        return found

    async def _jwks_uri(self) -> str:
        """Find where the keys are; the metadata must name the issuer byte for byte (RFC 8414 section 3.3)."""
        for place in metadata_places(self.url):
            try:
                document = await self._json(place)
            except (FetchRefused, ValueError):
                continue
            if document.get("issuer") != self.url:
                log.warning("%s names the issuer %r, not %r", place, document.get("issuer"), self.url)
            elif isinstance(found := document.get("jwks_uri"), str):
                return found
        raise ValueError("no metadata of this issuer names its keys")

    async def _json(self, url: str) -> dict[str, Any]:
        trusted = _origin(url) == _origin(self.url)
        schemes = _BOUNDS.schemes if trusted else frozenset({"https"})
        found = await self._fetcher.get(url, replace(_BOUNDS, trusted=trusted, schemes=schemes))
        document = pydantic_core.from_json(found.body)
        if not isinstance(document, dict):
            raise ValueError("it is no JSON object")  # noqa: TRY004  what is wrong is the document
        return document


def metadata_places(issuer: str) -> list[str]:
    """Give the addresses of an issuer's metadata: RFC 8414, then OpenID Connect in both forms."""
    parts = urlsplit(issuer)
    origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    return list(
        dict.fromkeys(
            (
                f"{origin}/.well-known/oauth-authorization-server{path}",
                f"{origin}/.well-known/openid-configuration{path}",
                f"{origin}{path}/.well-known/openid-configuration",
            )
        )
    )


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower()


def _usable(listed: Iterable[Any]) -> Iterable[VerifyKey]:
    """Read the keys that can verify; what is for encryption, symmetric, weak or broken is left out."""
    for entry in listed:
        if not isinstance(entry, dict) or entry.get("kty") not in _KINDS or entry.get("use", "sig") != "sig":
            continue
        try:
            key: Any = JWKRegistry.import_key(entry)
            if isinstance(key, RSAKey) and key.public_key.key_size < _MIN_RSA_BITS:
                continue
        except (JoseError, ValueError, TypeError):
            continue
        yield key
