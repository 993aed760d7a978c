"""The worker's part of packs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.features.packs import queries

if TYPE_CHECKING:
    from app.store.jobs import Handler, Work


async def sweep(work: Work) -> None:
    """Remove packs that nobody made for a month."""
    for workspace_id in await queries.list_workspaces_with_old(work.database):
        async with work.database.tx(workspace_id) as tx:
            await queries.drop_old(tx)


JOBS: list[Handler] = []
SWEEPS = [sweep]
