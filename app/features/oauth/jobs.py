"""Retention of codes, tokens and clients that nobody uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.features.oauth import queries

if TYPE_CHECKING:
    from app.store.jobs import Handler, Work


async def purge(work: Work) -> None:
    """Remove what expired more than a day ago."""
    await queries.purge(work.database)


JOBS: list[Handler] = []
SWEEPS = [purge]
