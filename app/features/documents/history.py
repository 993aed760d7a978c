"""Pages of a document's past: its versions, two of them side by side, and one made current again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.edge.web.diffs import columns
from app.edge.web.forms import filled, filters
from app.edge.web.page import Page, call, form, redirect, render
from app.features.documents import operations
from app.kit.errors import AppError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

_PATH: Final = "/dashboard/documents"
_SIZE: Final = 25


async def versions(request: Request) -> Response:
    """List a document's versions."""
    return await _versions(request)


async def _versions(request: Request, status: int = 200, error: str = "") -> Response:
    here = request.path_params["id"]
    found = (await call(request, operations.get_document, documentId=here)).data
    after = filters(request, "cursor")
    page = await call(request, operations.list_versions, documentId=here, limit=_SIZE, **filled(after))
    return render(
        request,
        "document_versions.html",
        status,
        document=found,
        versions=page.data,
        after=page.pagination.cursor,
        first=bool(after["cursor"]),
        error=error,
    )


async def compare(request: Request) -> Response:
    """Show two revisions side by side."""
    here = request.path_params["id"]
    asked = filled(filters(request, "from", "to"))
    asked.setdefault("from", "1")
    found = (await call(request, operations.diff_document, documentId=here, **asked)).data
    return render(request, "document_diff.html", diff=found, columns=columns(found.unified))


async def restore(request: Request) -> Response:
    """Make a version current again, unless the document was changed since the list was shown."""
    fields = await form(request)
    here = request.path_params["id"]
    known = filled({"expectedRevision": fields.get("revision", "")})
    try:
        await call(
            request, operations.restore_version, documentId=here, versionId=request.path_params["version"], **known
        )
    except AppError as error:
        if error.reason not in ("REVISION_MISMATCH", "LEASE_REQUIRED", "LEASE_LOST"):
            raise
        said = "It was changed meanwhile. Look at the newest version, then restore again if you still want to."
        return await _versions(request, 409, said if error.reason == "REVISION_MISMATCH" else error.message)
    return redirect(f"{_PATH}/{here}", "restored")


HISTORY = [
    Page(f"{_PATH}/{{id}}/versions", versions),
    Page(f"{_PATH}/{{id}}/versions/{{version}}/restore", restore, ("POST",)),
    Page(f"{_PATH}/{{id}}/diff", compare),
]
