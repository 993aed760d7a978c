"""The worker's part of public links: whose time is over is written down, and long ended ones are forgotten.

Pages judge the time themselves; this brings `isPublic` of prompts after, within a sweep.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.features.links import queries
from app.features.prompts import service as prompts

if TYPE_CHECKING:
    from app.store.jobs import Handler, Work

BATCH = 100


async def sweep(work: Work) -> None:
    """End links whose time is over, some at a time."""
    for row in await queries.list_expired(work.database, BATCH):
        async with work.database.tx(row["workspace_id"]) as tx:
            ended = await queries.end_link(tx, row["id"])
            if ended is not None and row["item_type"] == "prompt":
                await prompts.set_published(tx, row["item_id"], published=False)
    await queries.forget_ended(work.database, BATCH)


JOBS: list[Handler] = []
SWEEPS = [sweep]
