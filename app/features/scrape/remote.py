"""Fetches web pages and reads their text, with the site's consent; never within a transaction."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from app.features.scrape.errors import (
    PageFailed,
    PageForbidden,
    PageInside,
    PageTimedOut,
    PageTypeUnsupported,
    PageUnreadable,
)
from app.features.scrape.schemas import Page, Validators
from app.kit.addresses import in_ascii, parse_target
from app.kit.code import code_block
from app.kit.errors import AppError
from app.kit.schema import storable
from app.store.fetcher import USER_AGENT, Bounds, FetchRefused, Request
from app.store.readers import Unreadable

if TYPE_CHECKING:
    from uuid import UUID

    from app.store.confined import Confined
    from app.store.fetcher import Fetched, Fetcher

_MIB = 1024 * 1024
_EXTRACT = "app.features.scrape.extracting:read_page"
_TEXT = "app.features.scrape.extracting:read_text"
_JUDGE = "app.features.scrape.robots:judge"
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_PLAIN = frozenset({"text/plain", "text/markdown", "text/x-markdown"})
_JSON = frozenset({"application/json"})
PAGE = Bounds(types=_HTML | _PLAIN | _JSON, max_bytes=5 * _MIB, seconds=10.0)
ROBOTS = Bounds(types=frozenset(), max_bytes=_MIB // 2, seconds=5.0)
_CHARSET = re.compile(r"charset\s*=\s*\"?([\w.:-]{1,40})", re.IGNORECASE)
_FAULTS = {
    "large": f"it is larger than {PAGE.max_bytes // _MIB} MiB",
    "redirects": "its address redirects too often, or in a circle",
}
_MAX_VALIDATOR = 500
_CLIENT_ERRORS = range(400, 500)


class Pages:
    """Reads pages of the public Internet."""

    def __init__(self, fetcher: Fetcher, confined: Confined) -> None:
        self._fetcher = fetcher
        self._confined = confined

    async def read(self, workspace_id: UUID, url: str, known: Validators) -> Page:
        """Fetch a page for a workspace and take its text as Markdown; without content when it is the known one.

        Raises:
            PageInside, PageFailed, PageTimedOut, PageForbidden, PageTypeUnsupported, PageUnreadable.
        """
        if self._fetcher.leads_inside(url):
            raise PageInside
        approve = functools.partial(self._ask_robots, workspace_id)
        try:
            found = await self._fetcher.fetch(url, Request(PAGE, known.headers, approve))
        except FetchRefused as refusal:
            raise _refused(refusal) from None
        if found.unchanged:
            return Page(url, None, known)
        try:
            taken = await self._take(workspace_id, found)
        except Unreadable as error:
            raise PageUnreadable(str(error)) from None
        return Page(
            found.url,
            storable(taken["content"]),
            Validators(*(_validator(found, name) for name in ("etag", "last-modified"))),
            title=storable(taken.get("title") or "") or None,
            canonical=_canonical(found.url, taken.get("canonical")),
            language=storable(taken.get("language") or "") or None,
        )

    async def _take(self, workspace_id: UUID, found: Fetched) -> dict[str, Any]:
        reader = _EXTRACT if found.media_type in _HTML else _TEXT
        options = {"url": found.url, "charset": _charset(found)}
        taken = await self._confined.call(workspace_id, reader, options, found.body)
        if found.media_type in _JSON:
            taken["content"] = code_block(taken["content"].strip(), "json") + "\n"
        return taken

    async def _ask_robots(self, workspace_id: UUID, url: str) -> None:
        """Ask the site whether the page may be read: no file means yes, a site in trouble means no (RFC 9309, 2.3.1).

        A file that only redirects is none; one that is too large to read allows nothing.

        Raises:
            PageForbidden, FetchRefused.
        """
        parts = urlsplit(url)
        try:
            found = await self._fetcher.get(f"{parts.scheme}://{parts.netloc}/robots.txt", ROBOTS)
        except FetchRefused as refusal:
            if refusal.status in _CLIENT_ERRORS or refusal.fault == "redirects":
                return
            if refusal.fault == "large":
                raise PageForbidden from None
            raise
        options = {"url": url, "agent": USER_AGENT}
        try:
            judged = await self._confined.call(workspace_id, _JUDGE, options, found.body)
        except Unreadable:
            raise PageForbidden from None
        if not judged["allowed"]:
            raise PageForbidden


def _refused(refusal: FetchRefused) -> AppError:
    if refusal.timed_out:
        return PageTimedOut()
    if refusal.media_type is not None:
        return PageTypeUnsupported(refusal.media_type)
    return PageFailed(refusal.status) if refusal.fault is None else PageUnreadable(_FAULTS[refusal.fault])


def _charset(found: Fetched) -> str | None:
    named = _CHARSET.search(found.headers.get("content-type", ""))
    return named.group(1) if named else None


def _validator(found: Fetched, name: str) -> str | None:
    value = found.headers.get(name)
    return value if value and len(value) <= _MAX_VALIDATOR and value.isascii() and value.isprintable() else None


def _canonical(url: str, named: str | None) -> str | None:
    """Take the address that the page calls its own, if that is one of the same site."""
    if not named:
        return None
    try:
        target = parse_target(in_ascii(urljoin(url, named)))
    except ValueError:
        return None
    return target.url if target and target.authority == urlsplit(url).netloc else None
