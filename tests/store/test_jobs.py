"""Jobs that merge: a waiting one stands for all that ask for the same, and none that matters is lost."""

import asyncio

import pytest

from app.kit.ids import new_id
from app.store.jobs import Job, absorb, encode
from app.store.tx import open_tx

QUEUED = "SELECT count(*) FROM pgqueuer WHERE payload = $1 AND status = 'queued'"


@pytest.fixture
def job():
    return Job("index_workspace", {"workspace": str(new_id())}, merges=True)


async def ask(tx, job):
    await tx.execute("SELECT merge_job($1, $2)", job.entrypoint, encode(job.payload))


async def pick(sql, job):
    """Do to the waiting jobs what the queue's worker does."""
    await sql.execute("UPDATE pgqueuer SET status = 'picked' WHERE payload = $1", encode(job.payload))


async def waiting(sql, job):
    return await sql.fetchval(QUEUED, encode(job.payload))


async def test_a_waiting_job_stands_for_those_that_ask_for_the_same(database, sql, job):
    for _ in range(3):
        async with open_tx(database.write, new_id()) as tx:
            await ask(tx, job)
    assert await waiting(sql, job) == 1


async def test_a_job_that_is_being_done_stands_for_nothing(database, sql, job):
    async with open_tx(database.write, new_id()) as tx:
        await ask(tx, job)
    await pick(sql, job)
    async with open_tx(database.write, new_id()) as tx:
        await ask(tx, job)
    assert await waiting(sql, job) == 1


async def test_a_worker_waits_for_the_writer_that_relied_on_its_job(database, sql, job):
    async with open_tx(database.write, new_id()) as tx:
        await ask(tx, job)
    async with open_tx(database.write, new_id()) as late:
        await ask(late, job)
        await pick(sql, job)
        absorbed = asyncio.create_task(absorb(database.system, job))
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.shield(absorbed), 0.2)
    await asyncio.wait_for(absorbed, 5)  # what the late writer wrote is committed from here on
    assert await waiting(sql, job) == 0


async def test_a_worker_waits_for_nobody_elses_writer(database, job):
    other = Job(job.entrypoint, {"workspace": str(new_id())}, merges=True)
    async with open_tx(database.write, new_id()) as tx:
        await ask(tx, other)
        await asyncio.wait_for(absorb(database.system, job), 5)


async def test_writers_that_ask_at_once_leave_at_least_one_job(database, sql, job):
    async def write():
        async with open_tx(database.write, new_id()) as tx:
            await ask(tx, job)

    await asyncio.gather(*(write() for _ in range(20)))
    assert await waiting(sql, job) >= 1
    await absorb(database.system, job)
    assert await waiting(sql, job) == 0
