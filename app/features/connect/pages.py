"""Pages that connect a client and examine the service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.edge.web.page import Page, form, gate_of, render, sign_in_first, visitor, web_of
from app.features.connect.remote import TOTAL_SECONDS, Examiner
from app.features.connect.service import clients, is_public
from app.gate.policy import Limit

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

CONNECT, DOCTOR = "/dashboard/connect", "/dashboard/doctor"
_EXAMINATIONS = Limit(6, 600)
_WAYS = {"oauth": "Sign in (no key needed)", "api-key": "With an API key"}


async def connect(request: Request) -> Response:
    """Show how to connect each client."""
    if await visitor(request) is None:
        return sign_in_first(request)
    web = web_of(request)
    guides = clients(web.url, web.product)
    return render(request, "connect.html", guides=guides, url=web.url, is_public=is_public(web.url), ways=_WAYS)


async def doctor(request: Request) -> Response:
    """Examine the service, when asked to."""
    who = await visitor(request)
    if who is None:
        return sign_in_first(request)
    outcomes = None
    if request.method == "POST":
        await form(request)
        gate = gate_of(request)
        await gate.limit(str(who.user_id), "doctor", _EXAMINATIONS)
        outcomes = await gate.get(Examiner).run()
    counts = {kind: sum(item.status == kind for item in outcomes or []) for kind in ("pass", "fail", "skip")}
    return render(
        request, "doctor.html", outcomes=outcomes, counts=counts, url=web_of(request).url, seconds=int(TOTAL_SECONDS)
    )


PAGES = [
    Page(CONNECT, connect),
    Page(DOCTOR, doctor, ("GET", "POST"), why="asks the service by its public address, in no transaction"),
]
