"""Turns pages into routes: where they may be served, how often, and what an error looks like to a person."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from fastapi.routing import APIRoute
from starlette.routing import Match, Route

from app.edge import errors
from app.edge.asgi import ClientGone
from app.edge.web.page import RATES, Page, gate_of, redirect, render, sign_in_first, visitor, web_of
from app.edge.web.static import ROUTE
from app.gate.gate import translated
from app.kit.errors import AppError, RateLimited, Unauthenticated

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from starlette.requests import Request
    from starlette.responses import Response

log = logging.getLogger(__name__)
_SAFE = ("GET", "HEAD")
_HTTPS_NEEDED = (
    "Signing in over plain http is possible on this machine only. Set PUBLIC_URL to the https address of this service; "
    "on a network that you trust, INSECURE_HTTP=1 allows it without."
)


def page_routes(pages: Iterable[Page]) -> list[Route]:
    """Serve pages, those of a fixed name before those of any, and the files that they refer to."""
    ordered = sorted(pages, key=lambda page: [part.startswith("{") for part in page.path.split("/")])
    found = [Route(page.path, _guarded(page), methods=list(page.methods)) for page in ordered]
    return [*found, Route(NOWHERE.path, _guarded(NOWHERE)), ROUTE]


def without_slash(request: Request) -> Response | None:
    """Lead to the page that stands at this path without its closing slashes; None where none does.

    Nor where an address cannot say the path, as with line ends in it: what browsers read would be another page's, for
    good. Operations have one address each: who calls them reads their description.
    """
    asked: str = request.scope["path"]  # as it is: `request.url` reads it as an address, without line ends
    path = asked.rstrip("/")
    if request.method not in _SAFE or path == asked:
        return None
    scope = {**request.scope, "path": path}
    routes = (route for route in request.app.routes if isinstance(route, Route) and not isinstance(route, APIRoute))
    if not any(route.matches(scope)[0] is Match.FULL for route in routes if route.path != NOWHERE.path):
        return None
    moved = redirect(f"{path}?{request.url.query}" if request.url.query else path, status=308)
    return moved if unquote(urlsplit(moved.headers["location"]).path) == path else None


async def _nowhere(request: Request) -> Response:
    """Answer for what is no page, to a person."""
    if moved := without_slash(request):
        return moved
    await visitor(request)
    said = "There is no such page. It may have been moved or deleted; the search finds what is there."
    return render(request, "error.html", 404, title="Not found", message=said)


NOWHERE = Page("/dashboard/{rest:path}", _nowhere, why="answers for what is no page")


async def nowhere(request: Request) -> Response:
    """Answer for what no route serves, to a person."""
    return await _guarded(NOWHERE)(request)


def _guarded(page: Page) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        web = web_of(request)
        if not page.open and not web.serves(request.scope):
            return render(request, "error.html", 403, title="Not over plain http", message=_HTTPS_NEEDED)
        try:
            await _spend(request, page)
            return await translated(page.endpoint(request))
        except Unauthenticated:
            return sign_in_first(request)
        except AppError as error:
            return _refused(request, error)
        except ClientGone:
            raise
        except Exception:
            request_id = request.scope["request_id"]
            log.exception("unexpected error", extra={"request_id": request_id})
            return _refused(request, errors.internal(request_id))

    return answer


async def _spend(request: Request, page: Page) -> None:
    """Count the call by the visitor's address.

    Raises:
        RateLimited: it is one too many.
    """
    subject = web_of(request).addresses.subject(request.scope)
    families = {page.rate} if request.method in _SAFE else {page.rate, "form"} - {"page"}
    for family in sorted(families):
        limit = RATES[family]
        if limit is not None:
            await gate_of(request).limit(f"address:{subject}", f"web-{family}", limit)


def _refused(request: Request, error: AppError) -> Response:
    status = errors.status_of(error)
    title = "One moment" if isinstance(error, RateLimited) else "That did not work"
    response = render(request, "error.html", status, title=title, message=error.message)
    if error.retry_after is not None:
        response.headers["retry-after"] = str(error.retry_after)
    return response
