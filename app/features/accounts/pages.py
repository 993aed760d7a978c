"""The page of usage and plan."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from app.edge.web.page import Page, call, gate_of, render
from app.features.accounts.operations import get_me
from app.gate.policy import Rate

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

WORDS = {
    "documents": "Documents",
    "prompts": "Prompts",
    "collections": "Collections",
    "storage_bytes": "Storage",
    "api_keys": "API keys",
    "api_units_month": "Calls this month",
    "scrapes_month": "Web pages this month",
    "reason_month": "Answers this month",
}
FEATURES = {"web_pages": "Web pages as documents"}
RATES = {Rate.SCRAPE: "Fetching web pages", Rate.API: "Writes and searches of passages", Rate.READONLY: "Reads"}
_STEP = 1000


@dataclass(frozen=True, slots=True)
class Line:
    """A meter in words."""

    label: str
    used: str
    limit: str
    share: float | None
    resets: datetime | None


async def settings(request: Request) -> Response:
    """Show what the plan allows and what is used of it."""
    me = (await call(request, get_me)).data
    lines = [_line(name, WORDS[name], meter) for name, meter in me.usage.items() if name in WORDS]
    plan = gate_of(request).plans.plans.get(me.plan.name) if me.plan else None
    rates = [(RATES[rate], limit) for rate, limit in plan.rates.items()] if plan else []
    return render(request, "settings.html", me=me, lines=lines, features=FEATURES, rates=rates)


def _line(name: str, label: str, meter: dict[str, Any]) -> Line:
    used, limit, resets = meter["used"], meter["limit"], meter["resetsAt"]
    said = _bytes if name == "storage_bytes" else _count
    share = None if not limit else min(used / limit, 1.0)
    ends = datetime.fromtimestamp(resets / _STEP, UTC) if resets else None
    return Line(label, said(used), "no limit" if limit is None else said(limit), share, ends)


def _count(value: int) -> str:
    return f"{value:,}"


def _bytes(value: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if value < _STEP:
            return f"{value:,.0f} {unit}"
        value /= _STEP
    return f"{value:,.1f} GB"


PAGES = [Page("/dashboard/settings", settings)]
