"""The worker's part of uploads."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from app.features.plans.service import Allowances
from app.features.uploads import queries, service
from app.features.uploads.remote import Converter
from app.store.jobs import Handler, absorb, enqueue, enqueue_missing

if TYPE_CHECKING:
    from typing import Any

    from app.store.jobs import Work


async def read(work: Work, payload: dict[str, Any]) -> None:
    """Read files of one workspace for a while; when more are left, it queues again behind the others."""
    workspace_id = UUID(payload["workspace"])
    pool, job = work.database.system, service.reading_job(workspace_id)
    await absorb(pool, job)
    reading = service.Reading(work.database, work.get(Converter), work.get(Allowances), workspace_id)
    if await reading.read_files():
        await enqueue(pool, [job])


async def sweep(work: Work) -> None:
    """Ask for files that nobody reads: whatever a crash lost is found here."""
    waiting = await queries.list_waiting_workspaces(work.database)
    await enqueue_missing(work.database.system, [service.reading_job(workspace_id) for workspace_id in waiting])


JOBS = [Handler(service.READING_JOB, read)]
SWEEPS = [sweep]
