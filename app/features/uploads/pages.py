"""Pages of files: sending them, and getting one back as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from starlette.responses import Response

from app.edge.web.forms import choices, filled, filters, form_with_files, tags_of
from app.edge.web.page import Page, call, render, web_of
from app.features.collections import operations as collections
from app.features.uploads import operations
from app.kit.errors import AppError
from app.kit.kinds import LANGUAGES, MEDIA_TYPES
from app.kit.paging import MAX_LIMIT

if TYPE_CHECKING:
    from starlette.requests import Request

PATH: Final = "/dashboard/documents/upload"
_MIB: Final = 1024 * 1024


async def upload(request: Request) -> Response:
    """Offer to send files."""
    chosen = filters(request, "collection")
    return await _shown(request, collection=chosen["collection"])


async def _shown(
    request: Request,
    status: int = 200,
    *,
    collection: str = "",
    tags: str = "",
    outcomes: list[Any] | None = None,
    error: str = "",
) -> Response:
    places = (await call(request, collections.list_collections, limit=MAX_LIMIT)).data
    return render(
        request,
        "upload.html",
        status,
        collections=choices(places, "name", "No collection"),
        collection=collection,
        tags=tags,
        outcomes=outcomes or [],
        error=error,
        kinds=len(MEDIA_TYPES) + len(LANGUAGES),
        mebibytes=web_of(request).max_body_bytes // _MIB,
    )


async def send(request: Request) -> Response:
    """Make a document of each file that was sent; what cannot be read is told with the reason."""
    fields, files = await form_with_files(request)
    outcomes = []
    for number, file in enumerate(files):
        outcome = {"name": file["name"], "document": None, "error": ""}
        once = f"{fields['once']}.{number}" if fields.get("once") else None
        more = filled({"collectionId": fields.get("collection", "")})
        try:
            made = await call(
                request,
                operations.upload_document,
                once=once,
                file=file,
                tags=tags_of(fields.get("tags", "")),
                **more,
            )
            outcome["document"] = made.data
        except AppError as error:
            outcome["error"] = error.message
        outcomes.append(outcome)
    status = 200 if any(outcome["document"] for outcome in outcomes) else 400
    chosen = {"collection": fields.get("collection", ""), "tags": fields.get("tags", "")}
    missing = "" if files else "Choose one or more files first."
    return await _shown(request, status, **chosen, outcomes=outcomes, error=missing)


async def original(request: Request) -> Response:
    """Give back the file that a document was made from."""
    found = await call(request, operations.get_original, documentId=request.path_params["id"])
    headers = {name.decode(): value.decode("latin-1") for name, value in found.headers}
    sandboxed = {"content-security-policy": "default-src 'none'; sandbox", "cache-control": "no-store"}
    sealed = {"referrer-policy": "no-referrer", "x-frame-options": "DENY"}
    return Response(found.content, headers=headers | sandboxed | sealed)


PAGES = [
    Page(PATH, upload),
    Page(PATH, send, ("POST",)),
    Page("/dashboard/documents/{id}/original", original),
]
