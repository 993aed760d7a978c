"""The part of an item's page where it is shared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from app.edge.web.page import Panel, call, gate_of
from app.edge.web.web import LOOPBACK
from app.features.links import operations
from app.features.links.schemas import MIN_PASSWORD
from app.features.links.service import LinkAddresses
from app.gate.policy import Role

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from starlette.requests import Request

LIVES = [("", "Never"), ("1", "In a day"), ("7", "In 7 days"), ("30", "In 30 days"), ("365", "In a year")]
ORDER = 50


async def context(request: Request, kind: str, item_id: str) -> dict[str, Any]:
    """Give what the form and the address need; `link` is None while nothing is shared."""
    found = (await call(request, operations.list_links, itemId=item_id)).data
    may = request.scope["visitor"].role is not Role.VIEWER
    link = found[0] if found else None
    shown = {"link": link, "kind": kind, "item_id": item_id, "may": may, "lives": LIVES, "life": ""}
    is_local = urlsplit(gate_of(request).get(LinkAddresses).url).hostname in LOOPBACK
    return shown | {"shortest": MIN_PASSWORD, "is_local": is_local}


def _gather(kind: str) -> Callable[[Request, Any], Coroutine[Any, Any, dict[str, Any] | None]]:
    async def gather(request: Request, item: Any) -> dict[str, Any] | None:
        found = await context(request, kind, str(item.id))
        return found | {"back": f"/dashboard/{kind}s/{item.id}"} if found["may"] or found["link"] else None

    return gather


PANELS = [Panel(f"{kind}s", "share_panel.html", _gather(kind), ORDER) for kind in ("document", "prompt")]
