"""The worker's part of the trash: what was deleted long ago goes for good."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from app.features.trash import queries, service
from app.kit.guarded import Lease

if TYPE_CHECKING:
    from app.store.jobs import Handler, Work

log = logging.getLogger(__name__)
BATCH = 50


async def sweep(work: Work) -> None:
    """Purge items whose time in the trash is over, some at a time."""
    for row in await queries.list_expired(work.database, list(service.bins()), BATCH):
        try:
            async with work.database.tx(row["workspace_id"]) as tx:
                await service.purge(tx, row["kind"], row["id"], Lease())
        except Exception:
            log.exception("a deleted item could not be purged", extra={"item": str(row["id"])})


JOBS: list[Handler] = []
SWEEPS = [sweep]
