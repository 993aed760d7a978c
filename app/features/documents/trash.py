"""What the trash does with documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.features.documents import queries
from app.features.documents.errors import HeldInTrash, LeaseLostInTrash
from app.gate.index import index_job
from app.gate.policy import Scope
from app.gate.trash import Bin, Eraser

if TYPE_CHECKING:
    from uuid import UUID

    from app.gate.operation import Context
    from app.kit.guarded import Lease
    from app.store.tx import Tx


async def restore(ctx: Context, document_id: UUID, lease: Lease) -> int | None:
    """Take a document out of the trash; the index learns of it again.

    Raises:
        HeldInTrash, LeaseLostInTrash: somebody holds its lease, or what is shown is not the current one.
    """
    row = await queries.undelete_document(ctx.tx, document_id, lease)
    if not await _may_leave(ctx.tx, document_id, row["outcome"]):
        return None
    ctx.enqueue(index_job(ctx.workspace_id))
    revision: int = row["revision"]
    return revision


async def bury(tx: Tx, document_id: UUID, lease: Lease) -> int | None:
    """Make a tombstone of a document in the trash.

    Raises:
        HeldInTrash, LeaseLostInTrash: somebody holds its lease, or what is shown is not the current one.
    """
    outcome = await queries.lock_trashed(tx, document_id, lease)
    return await queries.bury_document(tx, document_id) if await _may_leave(tx, document_id, outcome) else None


async def _may_leave(tx: Tx, document_id: UUID, outcome: str) -> bool:
    """Tell whether a document is in the trash; one that may not leave it yet is refused."""
    if outcome == "lease_required":
        raise HeldInTrash(await queries.lease_seconds(tx, document_id))
    if outcome == "lease_lost":
        raise LeaseLostInTrash
    return outcome != "absent"


BINS = [Bin("document", Scope.DOCUMENTS_READ, Scope.DOCUMENTS_WRITE, restore, bury)]
ERASERS = [Eraser("document", queries.erase_history)]
