"""The part of an item's page that says which collections hold it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from app.edge.web.page import Panel, call, every
from app.features.collections import operations
from app.features.collections.schemas import ItemType
from app.gate.policy import Role
from app.kit.paging import MAX_LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from starlette.requests import Request

ORDER = 40


def _gather(kind: ItemType) -> Callable[[Request, Any], Coroutine[Any, Any, dict[str, Any] | None]]:
    async def gather(request: Request, item: Any) -> dict[str, Any] | None:
        holding, places = await asyncio.gather(
            every(request, operations.list_collections, itemId=str(item.id)),
            call(request, operations.list_collections, limit=MAX_LIMIT),
        )
        may = request.scope["visitor"].role is not Role.VIEWER
        held = {one.id for one in holding}
        others = [one for one in places.data if one.id not in held]
        shown = {"item": item, "kind": kind.value, "holding": holding, "others": others, "may": may}
        return shown if may or holding else None

    return gather


PANELS = [Panel(f"{kind.value}s", "collections_panel.html", _gather(kind), ORDER) for kind in ItemType]
