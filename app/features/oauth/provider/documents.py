"""Client ID Metadata Documents: a client id that is the https address of the client's description."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pydantic_core
from authlib.oauth2.rfc6749 import OAuth2Error

from app.features.oauth import queries
from app.features.oauth.provider.clients import DEVICE_GRANT
from app.features.oauth.provider.registration import usable
from app.kit.addresses import parse_target
from app.store.fetcher import Bounds, Fetcher, FetchRefused

if TYPE_CHECKING:
    from app.features.oauth.schemas import ClientRow
    from app.store.postgres import Database

_BOUNDS = Bounds(
    types=frozenset({"application/json"}),
    max_bytes=5 * 1024,
    seconds=3.0,
    redirects=0,
    schemes=frozenset({"https"}),
)
_FLOOR, _USUAL, _CEILING = 300, 3600, 86_400
_FAILED_SECONDS = 30.0
_FAILURES = 10_000
_AGE = re.compile(r"max-age=(\d{1,9})")
_SECRETS = ("client_secret", "client_secret_expires_at")


class Documents:
    """Fetches client documents and keeps them for every process; a failure is remembered here for a moment."""

    def __init__(self, database: Database, fetcher: Fetcher) -> None:
        self._database = database
        self._fetcher = fetcher
        self._failed: dict[str, float] = {}

    async def load(self, client_id: str, *, stale_will_do: bool = False) -> ClientRow | None:
        """Give the client of an address; `stale_will_do` where it was approved before and only asks for tokens."""
        if not is_well_formed(client_id):
            return None
        row = await queries.get_document(self._database, client_id)
        if row is not None and (row.fresh or stale_will_do):
            return row
        if self._failed.get(client_id, 0.0) > time.monotonic():
            return None
        try:
            metadata, seconds = await self._fetch(client_id)
        except (FetchRefused, OAuth2Error, ValueError):
            if len(self._failed) >= _FAILURES:
                self._failed.clear()
            self._failed[client_id] = time.monotonic() + _FAILED_SECONDS
            return None
        await queries.keep_document(self._database, client_id, metadata, seconds)
        return await queries.get_document(self._database, client_id)

    async def _fetch(self, client_id: str) -> tuple[dict[str, Any], int]:
        found = await self._fetcher.get(client_id, _BOUNDS)
        return describe(client_id, found.body), _seconds(found.headers.get("cache-control", ""))


def is_well_formed(client_id: str) -> bool:
    """Tell whether an address may be a client id: https, with a path, without fragment, user or dot segments."""
    target = parse_target(client_id)
    if target is None or target.scheme != "https" or "#" in client_id:
        return False
    path = urlsplit(client_id).path
    return len(path) > 1 and not any(part in {".", ".."} for part in path.replace("%2e", ".").split("/"))


def describe(client_id: str, body: bytes) -> dict[str, Any]:
    """Read a document.

    Raises:
        OAuth2Error, ValueError: it is not the description of a public client with this very address.
    """
    raw = pydantic_core.from_json(body)
    if not isinstance(raw, dict) or raw.get("client_id") != client_id or not raw.get("client_name"):
        raise ValueError("the document describes another client")
    if raw.get("token_endpoint_auth_method", "none") != "none" or any(name in raw for name in _SECRETS):
        raise ValueError("a document that everybody can read holds no secret")
    metadata = usable(raw) | {"token_endpoint_auth_method": "none"}
    if DEVICE_GRANT not in metadata["grant_types"] and not metadata.get("redirect_uris"):
        raise ValueError("no address for answers")
    return metadata


def _seconds(cache_control: str) -> int:
    """Read how long the document says it may be kept, within bounds of ours."""
    if "no-store" in cache_control or "no-cache" in cache_control:
        return _FLOOR
    age = _AGE.search(cache_control)
    return min(max(int(age.group(1)), _FLOOR), _CEILING) if age else _USUAL
