"""What the overview says in a workspace that is new, or that has sample data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.edge.web.page import Panel, call
from app.features.documents import operations as documents
from app.features.samples.service import TAG

if TYPE_CHECKING:
    from starlette.requests import Request


async def _first_run(request: Request, item: Any) -> dict[str, Any] | None:
    used = [item.usage[kind]["used"] for kind in ("documents", "prompts", "collections") if kind in item.usage]
    if not any(used):
        return {"is_new": True}
    has = (await call(request, documents.list_documents, tags=[TAG], limit=1)).data
    return {"is_new": False} if has else None


PANELS = [Panel("overview", "samples_panel.html", _first_run, order=0)]
