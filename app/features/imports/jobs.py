"""The worker's part of imports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.features.imports import queries

if TYPE_CHECKING:
    from app.store.jobs import Handler, Work

_BATCH = 20


async def sweep(work: Work) -> None:
    """End imports that nobody finished, so that what waits for its item is forgotten."""
    for row in await queries.list_abandoned(work.database, _BATCH):
        async with work.database.tx(row["workspace_id"]) as tx:
            await queries.finish_import(tx, row["id"])


JOBS: list[Handler] = []
SWEEPS = [sweep]
