"""The page where a person opens a document that an agent cites."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.edge.web.page import Page, call, panels, render
from app.features.documents import operations

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


async def document(request: Request) -> Response:
    """Show a document as it is stored."""
    found = await call(request, operations.get_document, documentId=request.path_params["id"])
    more = await panels(request, "documents", found.data)
    return render(request, "document.html", document=found.data, panels=more)


PAGES = [Page("/dashboard/documents/{id}", document)]
