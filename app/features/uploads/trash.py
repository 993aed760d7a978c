"""What a purge does with the file that a document was made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.features.uploads import queries
from app.gate.trash import Bin, Eraser

if TYPE_CHECKING:
    from uuid import UUID

    from app.store.tx import Tx


async def _erase(tx: Tx, document_id: UUID) -> dict[str, int]:
    return {"files": await queries.forget(tx, document_id)}


BINS: list[Bin] = []
ERASERS = [Eraser("document", _erase)]
