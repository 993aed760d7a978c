"""What the trash does with collections, and with memberships of items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.features.collections import queries
from app.features.collections.schemas import ItemType
from app.gate.index import index_job
from app.gate.policy import Scope
from app.gate.trash import Bin, Eraser

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from uuid import UUID

    from app.gate.operation import Context
    from app.kit.guarded import Lease
    from app.store.tx import Tx


async def restore(ctx: Context, collection_id: UUID, lease: Lease) -> int | None:  # noqa: ARG001  nobody holds one
    """Take a collection out of the trash, with its members."""
    revision = await queries.undelete_collection(ctx.tx, collection_id)
    ctx.enqueue(index_job(ctx.workspace_id))
    return revision


async def bury(tx: Tx, collection_id: UUID, lease: Lease) -> int | None:  # noqa: ARG001  nobody holds one
    """Make a tombstone of a collection in the trash."""
    return await queries.bury_collection(tx, collection_id)


async def _empty(tx: Tx, collection_id: UUID) -> dict[str, int]:
    return {"memberships": await queries.delete_members(tx, collection_id)}


def _leave(kind: str) -> Callable[[Tx, UUID], Awaitable[dict[str, int]]]:
    async def leave(tx: Tx, item_id: UUID) -> dict[str, int]:
        return {"memberships": await queries.delete_memberships(tx, kind, item_id)}

    return leave


BINS = [Bin("collection", Scope.DOCUMENTS_READ, Scope.DOCUMENTS_WRITE, restore, bury)]
ERASERS = [Eraser("collection", _empty), *(Eraser(kind.value, _leave(kind.value)) for kind in ItemType)]
