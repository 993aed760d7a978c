"""The page of the trash."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.edge.web.forms import filled, filters, kept
from app.edge.web.page import Page, call, form, redirect, render
from app.features.trash import operations
from app.kit.errors import AppError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

PATH: Final = "/dashboard/trash"
PAGE_SIZE: Final = 50
KINDS = [("", "All kinds"), ("document", "Documents"), ("prompt", "Prompts"), ("collection", "Collections")]


async def trash(request: Request) -> Response:
    """List what was deleted."""
    return await _listed(request)


async def _listed(request: Request, status: int = 200, error: str = "", said: str = "") -> Response:
    chosen = filters(request, "kind", "cursor")
    found = await call(request, operations.list_trash, limit=PAGE_SIZE, **filled(chosen))
    return render(
        request,
        "trash.html",
        status,
        items=found.data,
        after=found.pagination.cursor,
        chosen=chosen,
        kinds=KINDS,
        kept=kept(chosen),
        error=error,
        said=said,
    )


async def restore(request: Request) -> Response:
    """Take an item out of the trash, and show it."""
    await form(request)
    try:
        found = (await call(request, operations.restore_item, itemId=request.path_params["id"])).data
    except AppError as error:
        return await _listed(request, 409, error.message)
    return redirect(f"/dashboard/{found.kind.value}s/{found.id}", "returned")


async def purge(request: Request) -> Response:
    """Remove an item for good, and say what went with it."""
    await form(request)
    try:
        found = (await call(request, operations.purge_item, itemId=request.path_params["id"])).data
    except AppError as error:
        return await _listed(request, 409, error.message)
    counts = ", ".join(f"{count} {what}" for what, count in sorted(found.purged.items()) if count)
    return await _listed(request, said=f"Gone for good, with {counts}." if counts else "Gone for good.")


PAGES = [
    Page(PATH, trash),
    Page(f"{PATH}/{{id}}/restore", restore, ("POST",)),
    Page(f"{PATH}/{{id}}/purge", purge, ("POST",)),
]
