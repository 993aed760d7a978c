"""Raw transactions of one workspace: the only place that begins, commits or rolls back.

The tenant is set in the same simple message as BEGIN, so that it costs no round trip and ends with the transaction.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any
from uuid import UUID

from app.store.base import EVERYTHING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    import asyncpg

_ACQUIRE_SECONDS = 2.0
_ROLLBACK_SECONDS = 2.0


class Tx:
    """A transaction whose tenant is set; it has no `commit`: the block that opened it ends it."""

    __slots__ = ("closing", "connection", "opening_tag", "reach", "workspace_id")

    def __init__(
        self,
        connection: asyncpg.pool.PoolConnectionProxy[asyncpg.Record],
        workspace_id: UUID,
        reached: str,
        opening_tag: str,
    ) -> None:
        self.connection = connection
        self.workspace_id = workspace_id
        self.reach = reached
        self.opening_tag = opening_tag
        """Command tag of the statement that travelled with BEGIN."""
        self.closing = ""
        """A last statement, built of `literal` values alone, that travels with COMMIT."""

    async def fetch(self, sql: str, *args: Any) -> list[asyncpg.Record]:
        """Run a statement and return its rows."""
        rows: list[asyncpg.Record] = await self.connection.fetch(sql, *args)
        return rows

    async def fetchrow(self, sql: str, *args: Any) -> asyncpg.Record | None:
        """Run a statement and return its first row."""
        row: asyncpg.Record | None = await self.connection.fetchrow(sql, *args)
        return row

    async def fetchval(self, sql: str, *args: Any) -> Any:
        """Run a statement and return the first value of its first row."""
        return await self.connection.fetchval(sql, *args)

    async def execute(self, sql: str, *args: Any) -> str:
        """Run a statement and return its command tag."""
        tag: str = await self.connection.execute(sql, *args)
        return tag

    @contextlib.asynccontextmanager
    async def of_workspace(self, workspace_id: UUID) -> AsyncIterator[None]:
        """Let the statements of a block see another workspace: to make or rename one while another is current."""
        if not isinstance(workspace_id, UUID):
            msg = f"the workspace must be a UUID, not {type(workspace_id).__name__}"
            raise TypeError(msg)
        before = self.workspace_id
        await self.connection.execute(f"SET LOCAL app.workspace_id = '{workspace_id}'")
        self.workspace_id = workspace_id
        try:
            yield
        except BaseException:
            # The transaction may be beyond statements; it is rolled back by whoever opened it.
            self.workspace_id = before
            raise
        self.workspace_id = before
        await self.connection.execute(f"SET LOCAL app.workspace_id = '{before}'")

    @contextlib.asynccontextmanager
    async def of_everything(self) -> AsyncIterator[None]:
        """Let the statements of a block see the whole workspace: to remove what an item, judged before, left."""
        await self.connection.execute(f"SET LOCAL app.collections = '{EVERYTHING}'")
        yield
        await self.connection.execute(f"SET LOCAL app.collections = '{self.reach}'")


def count_of(tag: str) -> int:
    """Read how many rows a statement changed from its command tag."""
    return int(tag.rpartition(" ")[2])


class Single(Tx):
    """Stands for the transaction of a command that is one statement: a function that sets the tenant for itself."""

    __slots__ = ("_used",)

    def __init__(self, connection: asyncpg.pool.PoolConnectionProxy[asyncpg.Record], workspace_id: UUID) -> None:
        super().__init__(connection, workspace_id, "", "")
        self._used = False

    async def fetchrow(self, sql: str, *args: Any) -> asyncpg.Record | None:
        """Run the statement; it is committed when this returns."""
        if self._used:
            msg = "this command is declared as one statement"
            raise RuntimeError(msg)
        self._used = True
        return await super().fetchrow(sql, *args)

    async def _refuse(self, sql: str, *_args: Any) -> Any:
        msg = f"a command of one statement uses fetchrow, once; not for {sql[:40]!r}"
        raise RuntimeError(msg)

    fetch = fetchval = execute = _refuse


def literal(value: UUID | bytes) -> str:
    """Write a value for a statement that travels with BEGIN or COMMIT: only hex digits and hyphens, no parameters."""
    return f"'{value}'::uuid" if isinstance(value, UUID) else f"'\\x{value.hex()}'::bytea"


def reach(collections: Sequence[UUID] | None) -> str:
    """Write what of a workspace may be seen, as row-level security reads it: everything, or these collections."""
    if collections is None:
        return EVERYTHING
    if not all(isinstance(item, UUID) for item in collections):
        msg = "collections must be UUIDs"
        raise TypeError(msg)
    return ",".join(map(str, collections))


def _begin(workspace_id: UUID, collections: Sequence[UUID] | None, *, read_only: bool) -> str:
    # A UUID object prints as 36 characters of [0-9a-f-]: nothing can be injected through it.
    tenant = f"SET LOCAL app.workspace_id = '{workspace_id}'; SET LOCAL app.collections = '{reach(collections)}'"
    if not read_only:
        return f"BEGIN READ WRITE; {tenant}"
    # Postgres would keep a plan that it made when the tables were nearly empty until they are analyzed again: with a
    # large document that came since, a search on it took half a minute. Planned anew it takes milliseconds more.
    plans = "SET LOCAL plan_cache_mode = force_custom_plan"
    return f"BEGIN READ ONLY ISOLATION LEVEL REPEATABLE READ; {tenant}; {plans}"


@contextlib.asynccontextmanager
async def open_tx(
    pool: asyncpg.Pool[asyncpg.Record],
    workspace_id: UUID,
    collections: Sequence[UUID] | None = None,
    *,
    read_only: bool = False,
    opening: str = "",
) -> AsyncIterator[Tx]:
    """Hold a transaction for a block: commit when it ends well, roll back on any exception, cancellation included.

    `collections` narrows what the transaction sees and writes to their members. `opening` is a first statement, built
    of `literal` values alone, that costs no round trip of its own.
    """
    if not isinstance(workspace_id, UUID):
        msg = f"the workspace must be a UUID, not {type(workspace_id).__name__}"
        raise TypeError(msg)
    async with pool.acquire(timeout=_ACQUIRE_SECONDS) as connection:
        try:
            begin = _begin(workspace_id, collections, read_only=read_only)
            tag = await connection.execute(f"{begin}; {opening}" if opening else begin)
            tx = Tx(connection, workspace_id, reach(collections), tag)
            yield tx
            await connection.execute(f"{tx.closing}; COMMIT" if tx.closing else "COMMIT")
        except BaseException:
            await _roll_back(connection)
            raise


async def _roll_back(connection: asyncpg.pool.PoolConnectionProxy[asyncpg.Record]) -> None:
    """End the transaction, or the connection when it cannot answer: the next holder must never see this tenant."""
    try:
        await asyncio.shield(asyncio.wait_for(connection.execute("ROLLBACK"), _ROLLBACK_SECONDS))
    except (Exception, asyncio.CancelledError):  # noqa: BLE001  whatever went wrong, the connection must not be reused
        with contextlib.suppress(Exception):
            connection.terminate()
