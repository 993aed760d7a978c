"""The page of the audit trail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.edge.web.agents import browser_name
from app.edge.web.forms import filled, filters, kept
from app.edge.web.page import Page, call, render
from app.features.audit import operations

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

PATH: Final = "/dashboard/audit"
PAGE_SIZE: Final = 50
WORDS = {"api_key": "API key", "oauth": "Connected app", "session": "Browser"}
_KINDS = ("document", "prompt", "collection")


async def audit(request: Request) -> Response:
    """List who changed what."""
    chosen = filters(request, "object", "user", "cursor")
    found = await call(request, operations.list_audit, limit=PAGE_SIZE, **filled(chosen))
    return render(
        request,
        "audit.html",
        entries=found.data,
        after=found.pagination.cursor,
        first=bool(chosen["cursor"]),
        chosen=chosen,
        kept=kept(chosen),
        words=WORDS,
        browser_name=browser_name,
        kinds=_KINDS,
    )


PAGES = [Page(PATH, audit)]
