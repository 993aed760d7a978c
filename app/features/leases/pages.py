"""The form that switches how a document is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.edge.web.page import Page, call, form, redirect
from app.features.leases import operations
from app.features.leases.schemas import Policy

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


async def switch(request: Request) -> Response:
    """Require leases of a document's writers, or no longer, if nobody switched it meanwhile."""
    fields = await form(request)
    here, tag = request.path_params["id"], fields.get("tag", "")
    if fields.get("policy") == Policy.LEASE_REQUIRED:
        named = {"documentId": here, "If-Match": tag, "policy": Policy.LEASE_REQUIRED.value}
        await call(request, operations.set_policy, **named)
    else:
        await call(request, operations.clear_policy, **{"documentId": here, "If-Match": tag})
    return redirect(f"/dashboard/documents/{here}", "saved")


PAGES = [Page("/dashboard/documents/{id}/policy", switch, ("POST",))]
