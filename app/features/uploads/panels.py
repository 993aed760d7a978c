"""What the page of a document says about the file that it was made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.edge.web.page import Panel
from app.features.uploads.operations import FILE

if TYPE_CHECKING:
    from starlette.requests import Request

    from app.features.documents.schemas import Document


async def _original(request: Request, item: Document) -> dict[str, Any] | None:  # noqa: ARG001  the form of a panel
    return {"document": item} if item.source_type == FILE else None


PANELS = [Panel("documents", "original_panel.html", _original, order=20)]
