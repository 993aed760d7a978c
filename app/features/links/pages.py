"""Pages of public links: what readers see without signing in, and where people make and end links."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from app.edge.web.page import Page, call, every, form, redirect, render
from app.features.documents.operations import get_document
from app.features.links import operations, shown
from app.features.links.errors import AlreadyShared
from app.features.links.panels import LIVES, context
from app.features.links.schemas import MIN_PASSWORD
from app.features.prompts.operations import get_prompt
from app.kit.errors import InvalidRequest, NotFound

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

_LINKS, _SHARE = "/dashboard/links", "/dashboard/share/{kind}/{id}"


async def links(request: Request) -> Response:
    """List what is shared."""
    return render(request, "links.html", links=await every(request, operations.list_links))


async def share(request: Request) -> Response:
    """Show whether an item is shared, and by which address."""
    return await _show(request)


async def _show(request: Request, status: int = 200, **more: Any) -> Response:
    kind, item_id = request.path_params["kind"], request.path_params["id"]
    title = await _title(request, kind, item_id)
    shown_here = await context(request, kind, item_id) | {"title": title, "back": request.url.path, "error": ""}
    return render(request, "share.html", status, **(shown_here | more))


async def _title(request: Request, kind: str, item_id: str) -> str:
    if kind == "document":
        return (await call(request, get_document, documentId=item_id)).data.title
    if kind == "prompt":
        return (await call(request, get_prompt, promptId=item_id)).data.title
    raise NotFound("Only documents and prompts can be shared.")


async def publish(request: Request) -> Response:
    """Share an item."""
    fields = await form(request)
    kind, item_id = request.path_params["kind"], request.path_params["id"]
    days = fields.get("days", "")
    ends = datetime.now(UTC) + timedelta(days=int(days)) if days in dict(LIVES) and days else None
    wanted = {"itemType": kind, "itemId": item_id, "expiresAt": ends, "password": fields.get("password") or None}
    try:
        await call(request, operations.create_link, **wanted)
    except AlreadyShared:
        pass  # it is shown with its address then
    except InvalidRequest:
        said = f"Choose a password of at least {MIN_PASSWORD} characters, or none."
        return await _show(request, 400, error=said, life=days)
    return redirect(f"{fields.get('next', request.url.path)}#share", "published")


async def end(request: Request) -> Response:
    """End a link."""
    fields = await form(request)
    await call(request, operations.revoke_link, linkId=request.path_params["id"])
    return redirect(fields.get("next", _LINKS), "ended")


PAGES = [
    Page(_LINKS, links),
    Page(f"{_LINKS}/{{id}}/end", end, ("POST",)),
    Page(_SHARE, share),
    Page(_SHARE, publish, ("POST",)),
    *(
        Page(path, answer, methods, why="read by people who have no account", rate="shared", open=True)
        for path, answer in (("/s/{token}.md", shown.markdown), ("/s/{token}", shown.page))
        for methods in (("GET",), ("POST",))
    ),
]
