"""What a purge does with the links of an item."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from app.features.links import queries
from app.gate.trash import Bin, Eraser

if TYPE_CHECKING:
    from uuid import UUID

    from app.store.tx import Tx


async def _erase(item_type: str, tx: Tx, item_id: UUID) -> dict[str, int]:
    return {"links": await queries.erase_links(tx, item_type, item_id)}


BINS: list[Bin] = []
ERASERS = [Eraser(kind, functools.partial(_erase, kind)) for kind in ("document", "prompt")]
