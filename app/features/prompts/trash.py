"""What the trash does with prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.features.prompts import queries
from app.gate.index import index_job
from app.gate.policy import Scope
from app.gate.trash import Bin, Eraser

if TYPE_CHECKING:
    from uuid import UUID

    from app.gate.operation import Context
    from app.kit.guarded import Lease
    from app.store.tx import Tx


async def restore(ctx: Context, prompt_id: UUID, lease: Lease) -> int | None:  # noqa: ARG001  nobody holds one
    """Take a prompt out of the trash."""
    revision = await queries.undelete_prompt(ctx.tx, prompt_id)
    ctx.enqueue(index_job(ctx.workspace_id))
    return revision


async def bury(tx: Tx, prompt_id: UUID, lease: Lease) -> int | None:  # noqa: ARG001  nobody holds one
    """Make a tombstone of a prompt in the trash."""
    return await queries.bury_prompt(tx, prompt_id)


BINS = [Bin("prompt", Scope.PROMPTS_READ, Scope.PROMPTS_WRITE, restore, bury)]
ERASERS = [Eraser("prompt", queries.erase_versions)]
