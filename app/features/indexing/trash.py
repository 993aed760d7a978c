"""What the search index forgets of a purged document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.features.indexing import service
from app.gate.trash import Bin, Eraser

if TYPE_CHECKING:
    from uuid import UUID

    from app.store.tx import Tx


async def erase(tx: Tx, document_id: UUID) -> dict[str, int]:
    """Remove passages, their terms, and vectors that nothing else uses."""
    gone = await service.forget(tx, document_id)
    return gone or {}


BINS: list[Bin] = []
ERASERS = [Eraser("document", erase)]
