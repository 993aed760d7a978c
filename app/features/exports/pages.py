"""Pages that export a workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from starlette.responses import Response, StreamingResponse

from app.edge.web.page import Page, call, form, person, redirect, render, web_of
from app.features.exports import operations
from app.features.exports.schemas import ExportState

if TYPE_CHECKING:
    from starlette.requests import Request

PATH: Final = "/dashboard/export"
_MIB: Final = 1024 * 1024


async def export(request: Request) -> Response:
    """Offer an export, and an import."""
    await person(request)
    return render(request, "export.html", mebibytes=web_of(request).max_body_bytes // _MIB)


async def start(request: Request) -> Response:
    """Begin an export, once however often the form is sent."""
    fields = await form(request)
    begun = (await call(request, operations.start_export, once=fields.get("once"))).data
    return redirect(f"{PATH}/{begun.id}")


async def progress(request: Request) -> Response:
    """Show how far an export is, and where its archive is."""
    found = (await call(request, operations.get_export, exportId=request.path_params["id"])).data
    running = found.state is ExportState.RUNNING
    return render(request, "export_progress.html", export=found, running=running)


async def content(request: Request) -> Response:
    """Send the archive."""
    found = await call(request, operations.get_content, exportId=request.path_params["id"])
    headers = {
        "content-disposition": f'attachment; filename="{found.filename}"',
        "cache-control": "no-store",
        "content-security-policy": "default-src 'none'; sandbox",
        "referrer-policy": "no-referrer",
        "x-frame-options": "DENY",
    }
    return StreamingResponse(found.chunks, headers=headers, media_type=found.media_type)


PAGES = [
    Page(PATH, export),
    Page(PATH, start, ("POST",)),
    Page(f"{PATH}/{{id}}", progress),
    Page(f"{PATH}/{{id}}/content", content),
]
