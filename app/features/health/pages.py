"""The status page: what the service says of itself just now, for people and as Markdown."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from app.edge.discovery.pages import public
from app.edge.web.page import Page

if TYPE_CHECKING:
    from starlette.requests import Request

    from app.features.health.service import Readiness

_TWIN = "/status.md"


async def status(request: Request) -> Response:
    """Show the state as a page."""
    request.scope["visitor"] = None  # it tells whether the database answers, and does not ask it who reads
    response = await public(request, "Status", _text(await _report(request)), _TWIN)
    response.headers["cache-control"] = "no-store"
    return response


async def markdown(request: Request) -> Response:
    """Give the state as Markdown."""
    text = _text(await _report(request))
    return Response(text, headers={"content-type": "text/markdown; charset=utf-8", "cache-control": "no-store"})


async def _report(request: Request) -> dict[str, Any]:
    readiness: Readiness = request.app.state.readiness
    return await readiness.current()


def _text(found: dict[str, Any]) -> str:
    ready = "It can serve." if found["ready"] else "It cannot serve just now."
    redis = {"ok": "reachable", "off": "not used"}.get(found.get("redis", ""), found.get("redis", "not asked"))
    rows = [
        ("Requests", "served" if found["ready"] else "refused until this is over"),
        ("Database", "reachable" if found.get("database") == "ok" else "away"),
        ("Redis", redis),
        ("Events", f"{found['eventWatermarkSeconds']:.0f} s behind" if "eventWatermarkSeconds" in found else "unknown"),
    ]
    table = "\n".join(f"| {name} | {state} |" for name, state in rows)
    at = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
    return f"# Status\n\n{ready}\n\n| part | state |\n|---|---|\n{table}\n\nAsked of this process at {at} UTC.\n"


PAGES = [
    Page("/status", status, why="shows everybody what load balancers ask", open=True),
    Page(_TWIN, markdown, why="the same for programs", open=True),
]
