"""Transactions under cancellation, exhaustion, killed backends and timeouts: nobody ever sees another tenant's rows."""

from __future__ import annotations

import asyncio
import contextlib

import asyncpg
import pytest
import pytest_asyncio

from app.features.documents import queries
from app.kit.ids import new_id
from app.store import postgres
from app.store.shares import Shares
from app.store.tx import open_tx
from tests.contract.requirements import proves
from tests.support.factories import Make
from tests.support.service import serving

MANY_STEPS = 60
_IDLE = """
SELECT count(*) FROM pg_stat_activity
 WHERE datname = current_database() AND state LIKE 'idle in transaction%' AND usename LIKE 'app\\_%'
"""


@pytest_asyncio.fixture
async def one(settings):
    """A pool with one connection: whoever comes next gets what was left behind."""
    pool = await postgres.open_pool(settings.database_write_url, size=1)
    yield pool
    await pool.close()


async def cancel_after(steps, work):
    """Run a coroutine, cancel it after some steps of the loop, and tell whether it had ended by itself."""
    task = asyncio.ensure_future(work)
    for _ in range(steps):
        await asyncio.sleep(0)
    ended = task.done()
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError, asyncpg.PostgresError, asyncpg.InterfaceError):
        await task
    return ended


async def cancel_when_busy(delay, work):
    """The same by the clock, for the moments when the answer is on its way."""
    task = asyncio.ensure_future(work)
    await asyncio.sleep(delay)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError, asyncpg.PostgresError, asyncpg.InterfaceError):
        await task


async def assert_clean(pool):
    """The next holder of a connection has no transaction, no tenant, and sees no rows."""
    async with asyncio.timeout(5), pool.acquire() as connection:
        assert not connection.is_in_transaction()
        assert not await connection.fetchval("SELECT current_setting('app.workspace_id', true)")
        assert await connection.fetchval("SELECT count(*) FROM documents") == 0
        assert await connection.fetchval("SELECT count(*) FROM contents") == 0


async def until_nobody_idles(sql):
    async with asyncio.timeout(2):
        while await sql.fetchval(_IDLE):  # noqa: ASYNC110  the database tells no event
            await asyncio.sleep(0.02)


async def write(pool, workspace_id):
    async with open_tx(pool, workspace_id) as tx:
        await tx.fetch("SELECT id FROM documents")
        await tx.execute("INSERT INTO contents VALUES ($1, $2, 'x')", workspace_id, new_id().bytes)
        await tx.fetch("SELECT pg_sleep(0.001)")


async def read(pool, workspace_id):
    async with open_tx(pool, workspace_id, read_only=True) as tx:
        await tx.fetch("SELECT id FROM documents")


@pytest.mark.parametrize("work", [write, read])
async def test_a_transaction_cancelled_at_any_step_leaves_nothing_behind(alice, make, one, sql, work):
    await make.document(alice.client)
    for steps in range(MANY_STEPS):
        await cancel_after(steps, work(one, alice.workspace_id))
        await assert_clean(one)
    await until_nobody_idles(sql)


async def test_a_transaction_cancelled_at_any_time_leaves_nothing_behind(alice, make, one, sql):
    await make.document(alice.client)
    for number in range(40):
        await cancel_when_busy(number * 0.0003, write(one, alice.workspace_id))
        await assert_clean(one)
    await until_nobody_idles(sql)


async def test_a_cancelled_transaction_is_all_or_nothing(alice, one, sql):
    count = "SELECT count(*) FROM contents WHERE workspace_id = $1"

    async def two():
        async with open_tx(one, alice.workspace_id) as tx:
            for _ in range(2):
                await tx.execute("INSERT INTO contents VALUES ($1, $2, 'x')", alice.workspace_id, new_id().bytes)

    for number in range(40):
        await cancel_when_busy(number * 0.0003, two())
        assert await sql.fetchval(count, alice.workspace_id) % 2 == 0


async def test_a_hot_read_cancelled_at_any_step_leaves_nothing_behind(alice, make, settings, sql):
    made = await make.document(alice.client)
    pool = await postgres.open_pool(settings.database_read_url, size=1)
    database = postgres.Database(pool, pool, pool, Shares(1), Shares(1))
    for steps in range(MANY_STEPS):
        await cancel_after(steps, database.hot(queries.GET, alice.workspace_id, "*", made["id"], alice.id))
        await assert_clean(pool)
    await pool.close()
    await until_nobody_idles(sql)


async def test_a_second_cancellation_during_the_roll_back_leaves_nothing_behind(alice, one, sql):
    for number in range(20):
        task = asyncio.ensure_future(write(one, alice.workspace_id))
        await asyncio.sleep(0.001)
        task.cancel()
        for _ in range(number % 5):
            await asyncio.sleep(0)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError, asyncpg.PostgresError, asyncpg.InterfaceError):
            await task
        await assert_clean(one)
    await until_nobody_idles(sql)


@pytest.mark.parametrize("error", [ValueError, asyncio.CancelledError, KeyboardInterrupt])
async def test_an_exception_in_the_block_rolls_back(alice, one, sql, error):
    digest = new_id().bytes

    async def fail():
        async with open_tx(one, alice.workspace_id) as tx:
            await tx.execute("INSERT INTO contents VALUES ($1, $2, 'x')", alice.workspace_id, digest)
            raise error

    with pytest.raises(error):
        await fail()
    assert await sql.fetchval("SELECT count(*) FROM contents WHERE digest = $1", digest) == 0
    await assert_clean(one)


async def test_a_failed_statement_rolls_back_and_the_connection_is_used_again(alice, one):
    with pytest.raises(asyncpg.PostgresError):
        async with open_tx(one, alice.workspace_id) as tx:
            await tx.fetch("SELECT 1/0")
    await assert_clean(one)


async def test_a_connection_given_back_inside_a_transaction_does_not_show_it_to_the_next(alice, make, one):
    await make.document(alice.client)
    connection = await one.acquire()
    await connection.execute(f"BEGIN; SET LOCAL app.workspace_id = '{alice.workspace_id}'")
    with contextlib.suppress(asyncpg.InterfaceError):
        await one.release(connection)
    await assert_clean(one)


async def test_requests_of_clients_that_leave_leave_nothing_behind(alice, bob, make, service, sql):
    made = await make.document(alice.client)
    for steps in range(0, 120, 3):
        await cancel_after(steps, alice.client.get(f"/v1/documents/{made['id']}"))
        await cancel_after(steps, alice.client.patch(f"/v1/documents/{made['id']}", json={"content": str(steps)}))
        await cancel_after(steps, alice.client.get("/v1/documents"))
    await until_nobody_idles(sql)
    assert (await bob.client.get("/v1/documents")).json()["data"] == []
    for pool in (service.state.gate.database.write, service.state.gate.database.read):
        await assert_clean(pool)
    versions = (await alice.client.get(f"/v1/documents/{made['id']}/versions")).json()["data"]
    revision = (await alice.client.get(f"/v1/documents/{made['id']}")).json()["data"]["revision"]
    assert sorted(version["revision"] for version in versions) == list(range(1, revision + 1))


@pytest_asyncio.fixture
async def narrow(settings, database):
    """An instance whose pools hold two connections each."""
    async with serving(settings.model_copy(update={"pool_size": 2})) as app:
        yield app, Make(app, database)


@proves("ERR-503")
async def test_an_exhausted_pool_is_503_in_time_and_liveness_still_answers(alice, narrow):
    app, make = narrow
    client = make.client(alice.key)
    assert (await client.get("/v1/user/me")).status_code == 200
    pool = app.state.gate.database.read
    held = [await pool.acquire() for _ in range(2)]
    try:
        async with asyncio.timeout(4):
            answer, live = await asyncio.gather(client.get("/v1/documents"), client.get("/livez"))
    finally:
        for connection in held:
            await pool.release(connection)
    assert (answer.status_code, answer.json()["error"]["reason"]) == (503, "UNAVAILABLE")
    assert int(answer.headers["retry-after"]) >= 1
    assert live.status_code == 200
    assert (await client.get("/v1/documents")).status_code == 200


@proves("ERR-503")
async def test_killed_backends_are_503_at_most_and_heal(alice, narrow, sql):
    app, make = narrow
    client = make.client(alice.key)
    made = await make.document(client)
    kill = "SELECT pg_terminate_backend($1)"
    for round_number in range(3):
        for pool in (app.state.gate.database.read, app.state.gate.database.write):
            async with pool.acquire() as connection:
                pid = connection.get_server_pid()
            await sql.fetchval(kill, pid)
        answers = [
            await client.get(f"/v1/documents/{made['id']}"),
            await client.patch(f"/v1/documents/{made['id']}", json={"content": str(round_number)}),
        ]
        assert {answer.status_code for answer in answers} <= {200, 503}
        assert all("retry-after" in answer.headers for answer in answers if answer.status_code == 503)
    async with asyncio.timeout(15):
        while {(await client.get("/v1/documents")).status_code for _ in range(4)} != {200}:  # noqa: ASYNC110  healing
            await asyncio.sleep(0.05)
    assert (await client.patch(f"/v1/documents/{made['id']}", json={"content": "healed"})).status_code == 200


async def test_a_backend_killed_inside_a_command_leaves_no_half_write(alice, narrow, sql):
    _, make = narrow
    client = make.client(alice.key)
    made = await make.document(client)
    async with sql.acquire() as holder, holder.transaction():
        await holder.execute("SELECT FROM documents WHERE workspace_id = $1 FOR UPDATE", alice.workspace_id)
        writing = asyncio.create_task(client.patch(f"/v1/documents/{made['id']}", json={"content": "new"}))
        waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        async with asyncio.timeout(2):
            while (pid := await sql.fetchval(waiting)) is None:  # noqa: ASYNC110  the database tells no event
                await asyncio.sleep(0.01)
        await sql.fetchval("SELECT pg_terminate_backend($1)", pid)
        answer = await writing
    assert (answer.status_code, answer.json()["error"]["reason"]) == (503, "UNAVAILABLE")
    data = (await client.get(f"/v1/documents/{made['id']}")).json()["data"]
    assert (data["revision"], data["content"]) == (1, made["content"])


@proves("ERR-503")
async def test_a_row_that_stays_locked_is_a_passing_trouble(alice, make, sql):
    made = await make.document(alice.client)
    async with sql.acquire() as holder, holder.transaction():
        await holder.execute("SELECT FROM documents WHERE workspace_id = $1 FOR UPDATE", alice.workspace_id)
        answer = await alice.client.patch(f"/v1/documents/{made['id']}", json={"content": "new"})
    assert (answer.status_code, answer.json()["error"]["reason"]) == (503, "UNAVAILABLE")
    assert "retry-after" in answer.headers
    assert (await alice.client.patch(f"/v1/documents/{made['id']}", json={"content": "new"})).status_code == 200


async def test_a_database_that_is_away_is_503_for_requests_and_readiness(settings, database, alice):
    async with serving(settings) as app:
        client = Make(app, database).client(alice.key)
        assert (await client.get("/v1/user/me")).status_code == 200
        gate = app.state.gate.database
        for pool in (gate.write, gate.read):
            pool.terminate()
        answer = await client.get("/v1/documents")
        ready = await client.get("/readyz")
    assert (answer.status_code, answer.json()["error"]["reason"]) == (503, "UNAVAILABLE")
    assert ready.status_code == 503


async def test_another_workspaces_moment_ends_with_its_block_whatever_happens(one, alice, bob):
    def seen(tx):
        return tx.fetchval("SELECT string_agg(id::text, ' ') FROM workspaces")

    async with open_tx(one, alice.workspace_id) as tx:
        async with tx.of_workspace(bob.workspace_id):
            assert await seen(tx) == str(bob.workspace_id)
        assert await seen(tx) == str(alice.workspace_id)
    with contextlib.suppress(RuntimeError):
        async with open_tx(one, alice.workspace_id) as tx, tx.of_workspace(bob.workspace_id):
            raise RuntimeError
    await assert_clean(one)

    async def work():
        async with open_tx(one, alice.workspace_id) as tx, tx.of_workspace(bob.workspace_id):
            await seen(tx)

    for steps in range(MANY_STEPS):
        await cancel_after(steps, work())
        await assert_clean(one)
    with pytest.raises(TypeError):
        async with open_tx(one, alice.workspace_id) as tx, tx.of_workspace("'; DROP TABLE users"):
            pass
