"""Connection pools, one per database role, and the small surface that queries see."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import asyncpg
import pgvector.asyncpg
import pydantic_core

from app.kit.ids import NO_ID
from app.store.shares import Shares
from app.store.tx import Single, open_tx

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from contextlib import AbstractAsyncContextManager
    from uuid import UUID

    from app.settings import Settings
    from app.store.tx import Tx

ACQUIRE_SECONDS = 2.0
COMMAND_SECONDS = 35.0
"""Above the roles' `statement_timeout`, so that the server's clearer error comes first."""


async def _prepare(connection: asyncpg.Connection[asyncpg.Record]) -> None:
    await connection.set_type_codec(
        "jsonb", encoder=_dump, decoder=pydantic_core.from_json, schema="pg_catalog", format="text"
    )
    await pgvector.asyncpg.register_vector(connection)


def _dump(value: Any) -> str:
    return pydantic_core.to_json(value).decode()


async def _keep_state(_connection: Any) -> None:
    """Replace the pool's reset query: `asyncpg` itself rolls back a transaction left open; nothing else is ever set."""


async def open_pool(url: str, *, size: int, prepare: bool = True) -> asyncpg.Pool[asyncpg.Record]:
    """Open a pool of at most `size` connections on a role's address."""
    pool = await asyncpg.create_pool(
        url.replace("postgresql+asyncpg://", "postgresql://"),
        min_size=1,
        max_size=size,
        init=_prepare if prepare else None,
        reset=_keep_state,
        command_timeout=COMMAND_SECONDS,
        server_settings={"application_name": "context-repo"},
    )
    assert pool is not None
    return pool


@dataclass(frozen=True, slots=True)
class Database:
    """The three roles of the service: `write` and `read` for tenants, `system` for dispatch and retention."""

    write: asyncpg.Pool[asyncpg.Record]
    read: asyncpg.Pool[asyncpg.Record]
    system: asyncpg.Pool[asyncpg.Record]
    write_shares: Shares
    read_shares: Shares

    @contextlib.asynccontextmanager
    async def tx(
        self, workspace_id: UUID, opening: str = "", collections: Sequence[UUID] | None = None
    ) -> AsyncIterator[Tx]:
        """Open a write transaction of one workspace, with a first statement; it commits when the block ends well."""
        opened = open_tx(self.write, workspace_id, collections, opening=opening)
        async with self.write_shares.held(workspace_id), opened as tx:
            yield tx

    @contextlib.asynccontextmanager
    async def single(self, workspace_id: UUID) -> AsyncIterator[Tx]:
        """Hold a connection for a command that is one statement of one workspace and commits by itself."""
        async with self.write_shares.held(workspace_id), self.write.acquire(timeout=ACQUIRE_SECONDS) as connection:
            yield Single(connection, workspace_id)

    def global_tx(self) -> AbstractAsyncContextManager[Tx]:
        """Open a write transaction of no workspace, for wires where no tenant is known yet (sign-in, OAuth)."""
        return open_tx(self.write, NO_ID)

    @contextlib.asynccontextmanager
    async def snapshot(self, workspace_id: UUID, collections: Sequence[UUID] | None = None) -> AsyncIterator[Tx]:
        """Open a read-only transaction of one workspace that sees one state of the data."""
        opened = open_tx(self.read, workspace_id, collections, read_only=True)
        async with self.read_shares.held(workspace_id), opened as tx:
            yield tx

    async def hot(self, call: str, *args: Any) -> asyncpg.Record | None:
        """Run a listed hot read: one autocommit call of a SQL function that sets workspace and reach itself."""
        async with self.read.acquire(timeout=ACQUIRE_SECONDS) as connection:
            row: asyncpg.Record | None = await connection.fetchrow(call, *args)
            return row

    async def global_row(self, sql: str, *args: Any) -> asyncpg.Record | None:
        """Read a row of the global tables (credentials, users): no tenant is known yet."""
        return await self.hot(sql, *args)

    async def system_rows(self, sql: str, *args: Any) -> Sequence[asyncpg.Record]:
        """Run a statement across tenants as the system role (dispatch, retention, administration)."""
        async with self.system.acquire(timeout=ACQUIRE_SECONDS) as connection:
            rows: list[asyncpg.Record] = await connection.fetch(sql, *args)
            return rows

    async def close(self) -> None:
        """Close every pool, waiting shortly for running statements."""
        for pool in (self.write, self.read, self.system):
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(pool.close(), timeout=5)
            pool.terminate()


async def connect(settings: Settings) -> Database:
    """Open the three pools of a process."""
    size = settings.pool_size
    write, read, system = await asyncio.gather(
        open_pool(settings.database_write_url, size=size),
        open_pool(settings.database_read_url, size=size),
        open_pool(settings.database_system_url, size=max(2, size // 2)),
    )
    return Database(write, read, system, Shares(size), Shares(size))


@contextlib.asynccontextmanager
async def connected(settings: Settings) -> AsyncIterator[Database]:
    """Hold the pools for a block."""
    database = await connect(settings)
    try:
        yield database
    finally:
        await database.close()
