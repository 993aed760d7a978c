"""What the overview says about documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.edge.web.page import Panel, call
from app.features.documents import operations

if TYPE_CHECKING:
    from starlette.requests import Request

_SHOWN = 6


async def _newest(request: Request, item: Any) -> dict[str, Any] | None:  # noqa: ARG001  the form of a panel
    found = (await call(request, operations.list_documents, limit=_SHOWN)).data
    return {"documents": found} if found else None


PANELS = [Panel("overview", "newest_documents.html", _newest, order=10)]
