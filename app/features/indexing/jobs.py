"""The worker's part of indexing."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from app.features.indexing import service
from app.features.indexing.claims import queries as claims
from app.features.indexing.items import queries as items
from app.features.indexing.serving import Embedders, refill
from app.features.indexing.slots import queries as slots
from app.gate.index import INDEX_JOB, index_job
from app.store.jobs import Handler, absorb, enqueue, enqueue_missing

if TYPE_CHECKING:
    from typing import Any

    from app.store.jobs import Work


async def index(work: Work, payload: dict[str, Any]) -> None:
    """Work on one workspace for a while; when more is left, the workspace queues again behind the others.

    An import asks once for each of its documents; all of these become one job, or they would hold up everybody else.
    """
    workspace_id = UUID(payload["workspace"])
    pool, job = work.database.system, index_job(workspace_id)
    await absorb(pool, job)
    embedders = work.get(Embedders)
    if await service.index_workspace(work.database, embedders, workspace_id) or await refill(
        work.database, embedders, workspace_id
    ):
        await enqueue(pool, [job])


async def sweep(work: Work) -> None:
    """Ask for work on every workspace that is behind: whatever a crash lost is found here."""
    documents = await claims.list_pending_workspaces(work.database)
    changing = await slots.list_changing_workspaces(work.database, work.get(Embedders).current.name)
    pending = dict.fromkeys([*documents, *await items.list_pending_workspaces(work.database), *changing])
    await enqueue_missing(work.database.system, [index_job(workspace_id) for workspace_id in pending])


JOBS = [Handler(INDEX_JOB, index)]
SWEEPS = [sweep]
