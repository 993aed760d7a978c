"""What a purge means for archives: none keeps what was purged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.features.exports import queries
from app.gate.trash import Bin, Eraser

if TYPE_CHECKING:
    from uuid import UUID

    from app.store.tx import Tx


async def erase(tx: Tx, item_id: UUID) -> dict[str, int]:  # noqa: ARG001  any archive may hold it
    """Remove all archives of the workspace."""
    gone = await queries.drop_archives(tx)
    return {"archives": gone} if gone else {}


BINS: list[Bin] = []
ERASERS = [Eraser(kind, erase) for kind in ("document", "prompt", "collection")]
