"""What the page of a document says about the web page that it was made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.edge.web.page import Panel
from app.features.scrape.operations import URL

if TYPE_CHECKING:
    from starlette.requests import Request

    from app.features.documents.schemas import Document


async def _page(request: Request, item: Document) -> dict[str, Any] | None:  # noqa: ARG001  the form of a panel
    return {"document": item} if item.source_type == URL else None


PANELS = [Panel("documents", "web_page_panel.html", _page, order=20)]
