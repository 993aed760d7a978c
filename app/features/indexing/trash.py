"""What the search index forgets of a purged document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.features.indexing import queries, service
from app.features.indexing.items import service as items
from app.features.indexing.items.queries import KINDS
from app.gate.trash import Bin, Eraser

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from uuid import UUID

    from app.store.tx import Tx


async def erase(tx: Tx, document_id: UUID) -> dict[str, int]:
    """Remove passages, their terms, and vectors that nothing else uses."""
    gone = await service.forget(tx, document_id)
    return gone or {}


def _erase_item(kind: str) -> Callable[[Tx, UUID], Awaitable[dict[str, int]]]:
    async def erase_item(tx: Tx, item_id: UUID) -> dict[str, int]:
        return await items.forget(tx, kind, [item_id])

    return erase_item


BINS: list[Bin] = []
ERASERS = [Eraser("document", erase, queries.lock_document), *(Eraser(kind, _erase_item(kind)) for kind in KINDS)]
