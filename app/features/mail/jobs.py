"""The worker's part of mail."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from app.features.mail import service
from app.features.mail.remote import Mailer
from app.store.jobs import Handler

if TYPE_CHECKING:
    from app.store.jobs import Work

_SWEEPS_AN_HOUR = 240


async def send(work: Work, payload: dict[str, Any]) -> None:  # noqa: ARG001  what is due says the outbox
    """Send what is due."""
    await service.send_due(work.database, work.get(Mailer))


async def sweep(work: Work) -> None:
    """Send what a lost job left, and what is due again; forget old mails."""
    await service.send_due(work.database, work.get(Mailer))
    if random.randrange(_SWEEPS_AN_HOUR) == 0:  # noqa: S311  a turn, not a secret
        await service.forget_old(work.database)


JOBS = [Handler(service.SEND_JOB, send)]
SWEEPS = [sweep]
