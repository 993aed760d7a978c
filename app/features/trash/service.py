"""Restoring and purging, over whatever kinds the features offer."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from app import features
from app.features.trash import queries

if TYPE_CHECKING:
    from uuid import UUID

    from app.gate.trash import Bin, Eraser
    from app.kit.guarded import Lease
    from app.store.tx import Tx


@cache
def bins() -> dict[str, Bin]:
    """Give the bins of all features by kind."""
    return {found.kind: found for found in features.collect("trash", "BINS")}


@cache
def _erasers() -> dict[str, list[Eraser]]:
    found: dict[str, list[Eraser]] = {}
    for eraser in features.collect("trash", "ERASERS"):
        found.setdefault(eraser.kind, []).append(eraser)
    return found


async def purge(tx: Tx, kind: str, item_id: UUID, lease: Lease) -> tuple[int, dict[str, int]] | None:
    """Remove a deleted item for good; gives its revision and what was removed, None when it is not in the trash.

    Whether the caller may is judged by the statement that buries the item; what the item left in places that the
    caller cannot see goes too.

    Raises:
        LeaseRequired, LeaseLost: of a managed document.
    """
    for eraser in _erasers().get(kind, ()):
        if eraser.before is not None:
            await eraser.before(tx, item_id)
    revision = await bins()[kind].bury(tx, item_id, lease)
    if revision is None:
        return None
    counts: dict[str, int] = {}
    async with tx.of_everything():
        for eraser in _erasers().get(kind, ()):
            counts |= await eraser.erase(tx, item_id)
        counts["answers"] = await queries.forget_answers(tx, item_id)
    return revision, counts
