"""SQL of readiness."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncpg

    from app.store.postgres import Database

# The watermark's age: how long the oldest running transaction holds back readers of the event log.
_STATE = """
SELECT (SELECT version_num FROM alembic_version) AS version,
       coalesce((SELECT extract(epoch FROM clock_timestamp() - min(xact_start)) FROM pg_stat_activity
                  WHERE backend_xid IS NOT NULL), 0) AS watermark_seconds
"""


async def get_state(database: Database) -> asyncpg.Record:
    """Read the schema's version and the age of the event watermark."""
    row = await database.global_row(_STATE)
    assert row is not None
    return row
