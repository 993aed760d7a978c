"""The form that imports an archive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.edge.errors import status_of
from app.edge.web.forms import form_with_files
from app.edge.web.page import Page, call, gate_of, person, redirect, render
from app.features.imports import operations
from app.features.imports.remote import Archives
from app.kit.errors import AppError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


async def take(request: Request) -> Response:
    """Import an archive chunk by chunk; what was taken before a refusal stays, and a second try goes on."""
    _, files = await form_with_files(request)
    who = await person(request)
    if not files:
        return redirect("/dashboard/export")
    done = None
    error: AppError | None = None
    try:
        chunks = await gate_of(request).get(Archives).chunks(who.workspace_id, files[0]["content"])
        begun = (await call(request, operations.start_import)).data
        here = str(begun.id)
        for number, entries in enumerate(chunks, 1):
            await call(request, operations.put_chunk, importId=here, number=number, entries=entries)
        done = (await call(request, operations.finish_import, importId=here)).data
    except AppError as refusal:
        error = refusal
    status = status_of(error) if error else 200
    return render(request, "imported.html", status, done=done, error=error.message if error else "")


PAGES = [Page("/dashboard/import", take, ("POST",), why="reads the archive in a process of its own first")]
