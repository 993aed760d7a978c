"""What a purge means for archives: none keeps what was purged; those that never held it stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.features.exports import queries
from app.gate.trash import Bin, Eraser

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from uuid import UUID

    from app.store.tx import Tx


def _erase(kind: str) -> Callable[[Tx, UUID], Awaitable[dict[str, int]]]:
    async def erase(tx: Tx, item_id: UUID) -> dict[str, int]:
        gone = await queries.drop_archives_of(tx, kind, item_id)
        return {"archives": gone} if gone else {}

    return erase


BINS: list[Bin] = []
ERASERS = [Eraser(kind, _erase(kind)) for kind in ("document", "prompt", "collection")]
