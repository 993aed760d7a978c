"""What readers of a public link get: a page without scripts and cookies, or the Markdown as it is stored."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote

from starlette.responses import Response

from app.edge import errors
from app.edge.asgi import header, read_body
from app.edge.revalidation import revalidated
from app.edge.web.page import gate_of, web_of
from app.features.links.service import LinkAddresses, Links
from app.gate.policy import Limit
from app.kit.errors import AppError, RateLimited
from app.kit.markdown.html import begins_with, words
from app.kit.sanitize import one_line

if TYPE_CHECKING:
    from starlette.requests import Request

    from app.features.links.service import Shared

_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'; sandbox allow-forms"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "referrer-policy": "no-referrer",
    "x-robots-tag": "noindex, nofollow, noarchive",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_FORM_BYTES = 4096
_DESCRIPTION = 200
_LONG = 64 * 1024
"""Characters from which on a page is written beside the event loop."""
_OF_ONE_READER, _OF_ALL = Limit(10, 600), Limit(300, 3600)
"""Wrong tries of one link's password: by one address, and by everybody, so that many addresses do not help."""


class _Locked(Exception):
    """The link has a password, and it was not sent, or is wrong."""

    def __init__(self, *, tried: bool) -> None:
        super().__init__()
        self.tried = tried


async def page(request: Request) -> Response:
    """Show what is shared, rendered."""
    if (elsewhere := _canonical(request)) is not None:
        return elsewhere
    links = gate_of(request).get(Links)
    try:
        shared = await _opened(request, request.path_params["token"])
        html = await links.html(shared)
    except _Locked as locked:
        return _page(request, "shared_locked.html", 403 if locked.tried else 200, tried=locked.tried)
    except AppError as error:
        return _refused(request, error)
    if "head" not in request.scope:
        links.viewed(shared)
    context = _context(request, shared) | {"html": html, "titled": begins_with(html or "", shared.title)}
    if len(shared.content) > _LONG:
        response = await asyncio.to_thread(_page, request, "shared.html", **context)
    else:
        response = _page(request, "shared.html", **context)
    return _kept(request, shared, response)


async def markdown(request: Request) -> Response:
    """Give the text byte for byte as it is stored."""
    if (elsewhere := _canonical(request)) is not None:
        return elsewhere
    try:
        shared = await _opened(request, request.path_params["token"])
    except _Locked as locked:
        said = "Wrong password." if locked.tried else "This has a password."
        return _text(f"{said} Send it as a form: curl -d password=… {_address(request)}\n", 403)
    except AppError as error:
        return _text(f"{error.message}\n", errors.status_of(error), error)
    if "head" not in request.scope:
        gate_of(request).get(Links).copied(shared)
    response = _text(shared.content)
    response.headers["content-disposition"] = f"inline; filename*=UTF-8''{quote(_file_name(shared), safe='')}"
    return _kept(request, shared, response)


async def _opened(request: Request, token: str) -> Shared:
    """Find what is shared, and check the password that was sent for it.

    Raises:
        _Locked: there is a password, and the right one was not sent.
        NothingShared, RateLimited, Unavailable.
    """
    links, gate = gate_of(request).get(Links), gate_of(request)
    shared = await links.find(token)
    if shared.password_hash is None:
        return shared
    if request.method != "POST":
        raise _Locked(tried=False)
    password = await _sent(request)
    subject = web_of(request).addresses.subject(request.scope)
    one, every = (f"link:{shared.link_id}:{subject}", "link-password"), (f"link:{shared.link_id}", "link-passwords")
    # Counted before it is looked at, so that many at once do not get past the limit; the right one is taken back.
    await gate.limit(*one, _OF_ONE_READER)
    await gate.limit(*every, _OF_ALL)
    if not await links.opens(shared, password):
        raise _Locked(tried=True)
    for counted in (one, every):
        await gate.give_back(*counted)
    return shared


async def _sent(request: Request) -> str:
    """Read the password of a form; what is none is a wrong one."""
    body = await read_body(request.scope, request.receive, _FORM_BYTES)
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=5)).get("password", "")
    except ValueError:
        return ""


def _address(request: Request) -> str:
    return f"{gate_of(request).get(LinkAddresses).url}{request.url.path}"


def _canonical(request: Request) -> Response | None:
    """Lead to the host of public links, where it is another one."""
    addresses = gate_of(request).get(LinkAddresses)
    if addresses.url == web_of(request).url or (header(request.scope, b"host") or "").lower() == addresses.host:
        return None
    location = f"{addresses.url}{quote(request.url.path)}"
    return Response(status_code=308, headers=_HEADERS | {"location": location, "cache-control": "no-store"})


def _context(request: Request, shared: Shared) -> dict[str, Any]:
    return {
        "title": one_line(shared.title),
        "description": one_line(words(shared.content[: _DESCRIPTION * 4]), _DESCRIPTION),
        "address": _address(request),
        "changed_at": shared.changed_at,
        "content": shared.content,
        "item_type": shared.item_type,
        "locked": shared.password_hash is not None,
    }


def _kept(request: Request, shared: Shared, response: Response) -> Response:
    """Let caches keep an answer only if they ask each time; what a password opened they may not keep at all."""
    if shared.password_hash is not None:
        return response
    response.headers["cache-control"] = "no-cache"
    return revalidated(request, response) if request.method == "GET" else response


def _page(request: Request, template: str, status: int = 200, **context: Any) -> Response:
    text = web_of(request).templates.get_template(template).render(**context)
    headers = _HEADERS | {"cache-control": "no-store"}
    return Response(text, status, headers, media_type="text/html; charset=utf-8")


def _text(text: str, status: int = 200, error: AppError | None = None) -> Response:
    headers = _HEADERS | {"cache-control": "no-store"}
    if error is not None and error.retry_after is not None:
        headers["retry-after"] = str(error.retry_after)
    return Response(text, status, headers, media_type="text/markdown; charset=utf-8")


def _refused(request: Request, error: AppError) -> Response:
    title = "One moment" if isinstance(error, RateLimited) else "Not here"
    response = _page(request, "shared_gone.html", errors.status_of(error), title=title, message=error.message)
    if error.retry_after is not None:
        response.headers["retry-after"] = str(error.retry_after)
    return response


def _file_name(shared: Shared) -> str:
    name = one_line(shared.title, 80).replace("/", "-").strip(". ")
    return f"{name or shared.item_type}.md"
