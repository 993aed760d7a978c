"""The worker's part of signing in."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from app.features.signin import service
from app.gate.site import Site
from app.store.jobs import Handler

if TYPE_CHECKING:
    from app.store.jobs import Work

_SWEEPS_AN_HOUR = 240


async def write_mail(work: Work, payload: dict[str, Any]) -> None:
    """Write the mail that somebody asked for."""
    await service.write_mail(work.database, work.get(Site), payload["purpose"], payload["email"])


async def sweep(work: Work) -> None:
    """Forget what ended long ago."""
    if random.randrange(_SWEEPS_AN_HOUR) == 0:  # noqa: S311  a turn, not a secret
        await service.forget_old(work.database)


JOBS = [Handler(service.MAIL_JOB, write_mail)]
SWEEPS = [sweep]
