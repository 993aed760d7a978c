"""What the page of a document says about its coordination."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.edge.web.page import Panel, call, person
from app.features.leases import operations
from app.features.leases.schemas import Policy
from app.gate.policy import Role, Scope

if TYPE_CHECKING:
    from starlette.requests import Request

    from app.features.documents.schemas import Document


async def _lease(request: Request, item: Document) -> dict[str, Any] | None:
    who = await person(request)
    found = None
    if item.policy != Policy.STANDARD:
        found = (await call(request, operations.get_coordination, documentId=str(item.id))).data
    may_switch = who.role is Role.OWNER or Scope.DOCUMENTS_WRITE in who.scopes
    return {"document": item, "coordination": found, "may_switch": may_switch}


PANELS = [Panel("documents", "lease_panel.html", _lease, order=30)]
