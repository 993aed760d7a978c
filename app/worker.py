"""The worker's composition root: the job queue and the index of every workspace."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.settings import Settings


def run(settings: Settings) -> None:  # noqa: ARG001  filled in with the first job
    """Work until the process is told to stop."""
    asyncio.run(asyncio.Event().wait())
