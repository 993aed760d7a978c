"""The worker's part of exports."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from app.features.exports import queries, service
from app.store.jobs import Handler, absorb, enqueue, enqueue_missing

if TYPE_CHECKING:
    from typing import Any

    from app.store.jobs import Work

_BATCH = 20


async def export(work: Work, payload: dict[str, Any]) -> None:
    """Go on with an export for a while; when more is left, it queues again behind the others."""
    workspace_id, export_id = UUID(payload["workspace"]), UUID(payload["export"])
    pool, job = work.database.system, service.export_job(workspace_id, export_id)
    await absorb(pool, job)
    if await service.work(work.database, workspace_id, export_id):
        await enqueue(pool, [job])


async def sweep(work: Work) -> None:
    """Ask for exports that should be ready by now, and remove archives whose time is over."""
    running = await queries.list_running(work.database)
    await enqueue_missing(work.database.system, [service.export_job(row["workspace_id"], row["id"]) for row in running])
    for row in await queries.list_expired(work.database, _BATCH):
        async with work.database.tx(row["workspace_id"]) as tx:
            await queries.drop_archive(tx, row["id"])


JOBS = [Handler(service.EXPORT_JOB, export)]
SWEEPS = [sweep]
