"""The worker as a process of its own: it works, it is killed, it stops when told to."""

from __future__ import annotations

import asyncio
import time

import asyncpg
import pytest
import pytest_asyncio

from app.store import postgres
from tests.support.corpus import markdown_files
from tests.support.factories import Make
from tests.support.indexing import Index
from tests.support.service import create_database, drop_database, serving, settings_for, worker_number
from tests.support.worker import Worker

# Claims and sweeps of a production length would only make the proof wait; `poison` ends the process like a crash does.
WORKER = """
import os
from app import process, worker
from app.features.indexing import service
from app.settings import Settings
service.CLAIM_SECONDS, worker.SWEEP_SECONDS = 3, 1.0
real = service.chunk
def chunk(document_id, title, text):
    if "poison" in text:
        os._exit(9)
    return real(document_id, title, text)
service.chunk = chunk
process.watch_parent()
worker.run(Settings())
"""
SECONDS = 400

pytestmark = pytest.mark.prove


class World:
    """A service with a database of its own, so that the worker meets nothing but this test's documents."""

    def __init__(self, make, index, worker):
        self.make, self.index, self.worker = make, index, worker

    async def statuses(self, user):
        rows = await self.index.sql.fetch(
            "SELECT title, status, status_reason FROM documents WHERE workspace_id = $1", user.workspace_id
        )
        return {row["title"]: (row["status"], row["status_reason"]) for row in rows}

    async def settled(self, user):
        return not any(status in {"pending", "processing"} for status, _ in (await self.statuses(user)).values())

    async def wait(self, condition, *, restarting=False):
        deadline = time.monotonic() + SECONDS
        while not await condition():
            assert time.monotonic() < deadline, "it took too long"
            if restarting:
                self.worker.restart_if_ended()
            await asyncio.sleep(0.1)


@pytest_asyncio.fixture(scope="module")
async def world(servers):
    name = f"crashes_{worker_number()}"
    await create_database(servers, name)
    settings = settings_for(servers, name)
    worker = Worker(settings, WORKER)
    async with (
        asyncpg.create_pool(servers.superuser_url(name), min_size=1, max_size=2) as sql,
        postgres.connected(settings) as database,
        serving(settings) as app,
    ):
        try:
            yield World(Make(app, database), Index(database, sql, None), worker)
        finally:
            worker.stop()
    await drop_database(servers, name)


async def test_killing_the_worker_in_the_middle_loses_nothing(world):
    user = await world.make.user()
    samples = list(markdown_files(60, seed=7))
    for sample in samples:
        await world.make.document(user.client, title=sample.title, content=sample.text[:1500])
    world.worker.start()

    async def ready():
        return sum(status == "ready" for status, _ in (await world.statuses(user)).values())

    for number in range(3):
        before = await world.index.count("vectors", user.workspace_id)

        async def moved(before=before):
            return await world.index.count("vectors", user.workspace_id) > before

        await world.wait(moved)
        world.worker.kill()
        print(f"kill {number + 1} at {await ready()} ready")
        world.worker.start()
    await world.wait(lambda: world.settled(user), restarting=True)
    assert await ready() == 60
    assert await world.index.faults(user.workspace_id) == []
    assert await world.index.statistics(user.workspace_id) == await world.index.recount(user.workspace_id)
    per_document = await world.index.sql.fetch(
        "SELECT count(*) AS n FROM chunks WHERE workspace_id = $1 AND level = 'document' GROUP BY document_id",
        user.workspace_id,
    )
    assert [row["n"] for row in per_document] == [1] * 60
    world.worker.stop()


async def test_a_document_that_ends_its_worker_is_given_up_and_takes_nobody_with_it(world):
    user = await world.make.user()
    for number in range(4):
        await world.make.document(user.client, title=f"Before {number}", content=f"Sound text {number}.")
    await world.make.document(user.client, title="Bad", content="It holds poison.")
    for number in range(4):
        await world.make.document(user.client, title=f"After {number}", content=f"Sound text {number} too.")
    world.worker.start()
    await world.wait(lambda: world.settled(user), restarting=True)
    statuses = await world.statuses(user)
    assert statuses.pop("Bad")[0] == "failed"
    assert {status for status, _ in statuses.values()} == {"ready"}
    world.worker.stop()


async def test_others_need_not_wait_for_a_large_import_or_a_hostile_text(world):
    importer, other = await world.make.user(), await world.make.user()
    for sample in markdown_files(40, seed=8):
        await world.make.document(importer.client, title=sample.title, content=sample.text)
    await world.make.document(importer.client, title="Hostile", content="# a\n" * 75_000)
    world.worker.start()

    async def begun():
        return await world.index.count("vectors", importer.workspace_id) > 0

    await world.wait(begun)
    await world.make.document(other.client, title="Small", content="One sentence.")
    began = time.monotonic()
    await world.wait(lambda: world.settled(other))
    seconds = time.monotonic() - began
    left = sum(status != "ready" for status, _ in (await world.statuses(importer)).values())
    print(f"waited {seconds:.1f} s; {left} of the import were left")
    assert left > 0
    world.worker.stop()


async def test_a_worker_that_is_told_to_stop_gives_its_documents_back(world):
    user = await world.make.user()
    for sample in markdown_files(20, seed=9):
        await world.make.document(user.client, title=sample.title, content=sample.text)
    world.worker.start()

    async def begun():
        return await world.index.count("vectors", user.workspace_id) > 0

    await world.wait(begun)
    assert world.worker.stop() == 0
    held = await world.index.sql.fetchval(
        "SELECT count(*) FROM documents WHERE workspace_id = $1 AND index_claimed_until > clock_timestamp()",
        user.workspace_id,
    )
    assert held == 0
