"""What a purge does with packs: none keeps what was purged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.features.packs import queries
from app.gate.trash import Bin, Eraser

if TYPE_CHECKING:
    from uuid import UUID

    from app.store.tx import Tx


async def _erase(tx: Tx, document_id: UUID) -> dict[str, int]:
    gone = await queries.forget(tx, document_id)
    return {"packs": gone} if gone else {}


BINS: list[Bin] = []
ERASERS = [Eraser("document", _erase)]
