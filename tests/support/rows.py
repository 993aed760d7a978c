"""Looks at what is stored, behind every policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.store.base import GLOBAL_TABLES

if TYPE_CHECKING:
    from uuid import UUID

    import asyncpg

_TABLES = """
SELECT c.relname FROM pg_class c
 WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
 ORDER BY c.relname
"""


async def tenant_tables(sql: asyncpg.Pool[asyncpg.Record]) -> list[str]:
    """Name the tables whose rows belong to a workspace, without their partitions."""
    names = [row["relname"] for row in await sql.fetch(_TABLES)]
    return [name for name in names if name not in GLOBAL_TABLES and name != "workspaces"]


async def checksum(sql: asyncpg.Pool[asyncpg.Record], workspace_id: UUID) -> str:
    """Digest all rows of a workspace."""
    parts = [
        f"SELECT '{name}' AS name, md5(string_agg(t::text, '|' ORDER BY t::text)) AS digest "
        f"FROM {name} t WHERE workspace_id = $1"
        for name in await tenant_tables(sql)
    ]
    return str(await sql.fetch(" UNION ALL ".join(parts), workspace_id))
