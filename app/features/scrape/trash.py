"""What a purge does with where a document came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.features.scrape import queries
from app.gate.trash import Bin, Eraser

if TYPE_CHECKING:
    from uuid import UUID

    from app.store.tx import Tx


async def _erase(tx: Tx, document_id: UUID) -> dict[str, int]:
    return {"sources": await queries.forget(tx, document_id)}


BINS: list[Bin] = []
ERASERS = [Eraser("document", _erase)]
