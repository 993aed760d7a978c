"""Pages that keep a web page as a document and bring it up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.edge.errors import status_of
from app.edge.web.forms import choices, filled, tags_of
from app.edge.web.page import Page, call, form, redirect, render
from app.features.collections import operations as collections
from app.features.scrape import operations
from app.kit.errors import AppError
from app.kit.paging import MAX_LIMIT

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

PATH: Final = "/dashboard/documents/save-page"


async def save_page(request: Request) -> Response:
    """Ask for the page's address."""
    return await _shown(request, {})


async def _shown(request: Request, fields: dict[str, str], error: AppError | None = None) -> Response:
    places = (await call(request, collections.list_collections, limit=MAX_LIMIT)).data
    return render(
        request,
        "save_page.html",
        status_of(error) if error else 200,
        draft={"url": "", "title": "", "tags": "", "collection": "", "once": ""} | fields,
        collections=choices(places, "name", "No collection"),
        error=error.message if error else "",
    )


async def keep(request: Request) -> Response:
    """Keep a page, once however often the form is sent."""
    fields = await form(request)
    more = filled({"title": fields.get("title", "").strip(), "collectionId": fields.get("collection", "")})
    tags = tags_of(fields.get("tags", ""))
    once, url = fields.get("once"), fields.get("url", "")
    try:
        made = await call(request, operations.scrape_document, once=once, url=url, tags=tags, **more)
    except AppError as error:
        return await _shown(request, fields, error)
    return redirect(f"/dashboard/documents/{made.data.id}")


async def refresh(request: Request) -> Response:
    """Bring a document up to date from its page, unless somebody changed it since it was shown."""
    fields = await form(request)
    here = request.path_params["id"]
    known = filled({"expectedRevision": fields.get("revision", "")})
    try:
        found = (await call(request, operations.refresh_document, documentId=here, **known)).data
    except AppError as error:
        return render(request, "refreshed.html", status_of(error), here=here, error=error.message)
    if found.noop:
        return render(request, "refreshed.html", here=here, error="")
    return redirect(f"/dashboard/documents/{here}/diff?from={found.revision - 1}&to={found.revision}")


PAGES = [
    Page(PATH, save_page),
    Page(PATH, keep, ("POST",)),
    Page("/dashboard/documents/{id}/refresh", refresh, ("POST",)),
]
