"""The worker is killed while it reads a file: the file is read by the next one, once."""

from __future__ import annotations

import asyncio
import contextlib
import time
from functools import partial
from pathlib import Path

import asyncpg
import pytest
import pytest_asyncio

from app.features.uploads import service
from app.process import is_alive
from app.store import postgres
from tests.contract.requirements import proves
from tests.support import files
from tests.support.factories import Make
from tests.support.indexing import Index
from tests.support.service import create_database, drop_database, serving, settings_for, worker_number
from tests.support.worker import Worker

# Claims and sweeps of a production length would only make the proof wait.
PROGRAM = """
from app import process, worker
from app.features.indexing import service as index
from app.features.uploads import service as uploads
from app.settings import Settings
index.CLAIM_SECONDS = uploads._CLAIM_SECONDS = 8
worker.SWEEP_SECONDS = 0.5
process.watch_parent()
worker.run(Settings())
"""
SECONDS = 400
SAID = "The keeper rang the bell by hand"
SLOW = f"<p>{SAID}</p>".encode() + b"<i></i>" * 1_300_000
"""A page of nine megabytes that takes its reader seconds, and holds one sentence."""

pytestmark = pytest.mark.prove


@pytest_asyncio.fixture
async def place(servers):
    """A service with a database of its own, a user, a view from behind, and the worker."""
    name = f"readers_{worker_number()}"
    await create_database(servers, name)
    settings = settings_for(servers, name)
    worker = Worker(settings, PROGRAM)
    async with (
        asyncpg.create_pool(servers.superuser_url(name), min_size=1, max_size=2) as sql,
        postgres.connected(settings) as database,
        serving(settings) as app,
    ):
        try:
            yield await Make(app, database).user(), Index(database, sql, None), worker
        finally:
            worker.stop()
    await drop_database(servers, name)


async def until(condition):
    """Wait for what a condition finds."""
    deadline = time.monotonic() + SECONDS
    while not (found := await condition()):
        assert time.monotonic() < deadline, "it took too long"
        await asyncio.sleep(0.02)
    return found


def children(pid):
    """Name the processes that a process started and that still run."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            if int(parent) == pid and state != "Z":
                found.add(folder.name)
    return found


async def gone(names):
    """Tell whether processes have ended: a reader does not outlive its worker."""
    return not any(is_alive(int(name)) for name in names)


@proves("UPLOAD-LATER")
async def test_a_file_whose_worker_is_killed_while_it_is_read_becomes_ready_once(place):
    user, index, worker = place
    sent = {"a.md": f"# Log\n\n{SAID}.\n".encode(), "slow.html": SLOW, "b.docx": files.docx(SAID)}
    made = {}
    for name, body in sent.items():
        answer = await user.client.post("/v1/documents/upload", files={"file": (name, body)})
        assert answer.status_code == 202, answer.text
        made[name] = answer.json()["data"]["id"]

    async def reading(kills):
        starts = await index.sql.fetchval(
            "SELECT starts FROM document_files WHERE document_id = $1 AND claimed_until > clock_timestamp()",
            made["slow.html"],
        )
        return children(worker.process.pid) if starts == kills + 1 else None

    for kills in range(service.MAX_STARTS - 1):
        worker.start()
        readers = await until(partial(reading, kills))
        assert await index.status(made["slow.html"]) == ("processing", "The file is being read.")
        worker.kill()
        await until(partial(gone, readers))
    worker.start()

    async def ready():
        return {(await index.status(document_id))[0] for document_id in made.values()} == {"ready"}

    await until(ready)
    for name, document_id in made.items():
        url = f"/v1/documents/{document_id}"
        now = (await user.client.get(url)).json()["data"]
        assert (now["content"].count(SAID), now["revision"], now["status"]) == (1, 2, "ready")
        versions = (await user.client.get(f"{url}/versions")).json()["data"]
        assert [version["version"] for version in versions] == [1]
        assert (await user.client.get(f"{url}/original")).content == sent[name]
    assert len((await user.client.get("/v1/documents")).json()["data"]) == len(sent)
    assert await index.faults(user.workspace_id) == []
    assert await index.statistics(user.workspace_id) == await index.recount(user.workspace_id)
