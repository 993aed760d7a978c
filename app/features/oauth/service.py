"""Rules of grants that other parts may call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.features.oauth import queries

if TYPE_CHECKING:
    from uuid import UUID

    from app.store.postgres import Database


async def mark_used(database: Database, used: dict[UUID, str | None]) -> None:
    """Write down which grants were used since the last time."""
    await queries.mark_grants(database, list(used))
