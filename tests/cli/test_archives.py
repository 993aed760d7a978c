"""`ctx export` and `ctx import` of archives, over a real socket."""

from __future__ import annotations

import asyncio
import gzip
import json

import pytest
import pytest_asyncio
import typer
from typer.testing import CliRunner

from app.cli import archives, client, client_commands
from app.cli.client import Client, RefusedError
from app.kit import archive
from tests.contract.requirements import proves
from tests.support import archives as support
from tests.support.factories import Make

COMMANDS = typer.Typer()
client_commands.register(COMMANDS)
RUNNING = "SELECT id FROM exports WHERE workspace_id = $1 AND state = 'running'"


@pytest.fixture
def ctx(listening, tmp_path):
    """Run the command line for a user."""

    async def run(user, *args):
        environment = {
            "CTX_URL": listening[0],
            "CTX_API_KEY": user.key,
            "XDG_STATE_HOME": str(tmp_path / "state"),
            "DATA_DIR": str(tmp_path / "none"),
        }
        given = [str(arg) for arg in args]
        return await asyncio.to_thread(CliRunner().invoke, COMMANDS, given, env=environment)

    return run


@pytest_asyncio.fixture
async def worker(listening, database, sql, alice, bob):
    """Work on the exports of both as they come."""
    make = Make(listening[1], database)

    async def work():
        while True:
            for user in (alice, bob):
                for row in await sql.fetch(RUNNING, user.workspace_id):
                    await make.export(user, str(row["id"]))
            await asyncio.sleep(0.05)

    task = asyncio.create_task(work())
    yield
    task.cancel()


async def test_a_workspace_goes_into_a_file_and_out_of_it_into_another(ctx, worker, alice, bob, make, tmp_path):
    made = await make.document(alice.client, content="a text")
    await make.collection(alice.client, items=[made["id"]])
    first, second = tmp_path / "first.tar.gz", tmp_path / "second.tar.gz"
    done = await ctx(alice, "export", first, "--json")
    assert (done.exit_code, json.loads(done.stdout)["itemsDone"]) == (0, 2), done.output
    loaded = await ctx(bob, "import", first)
    assert (loaded.exit_code, "2 created, 0 were there already" in loaded.output) == (0, True), loaded.output
    assert (await ctx(bob, "export", second)).exit_code == 0
    assert first.read_bytes() == second.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["first.tar.gz", "second.tar.gz"]
    again = await ctx(bob, "import", first, "--json")
    assert json.loads(again.stdout)["counts"]["existing"] == 2


async def test_an_import_that_was_cut_off_goes_on_after_the_chunks_that_arrived(
    ctx, alice, bob, make, tmp_path, monkeypatch
):
    for number in range(4):
        await make.document(alice.client, content=f"text {number}")
    source = tmp_path / "a.tar.gz"
    source.write_bytes(await support.export(make, alice))
    monkeypatch.setattr(archives, "_CHUNK_FILES", 2)
    sent, send = [], Client.send

    def breaking(self, method, path, body, key):
        if len(sent) == 3:
            raise RefusedError(0, "UNREACHABLE", "The line is cut.")
        answer = send(self, method, path, body, key)
        sent.append(path)
        return answer

    monkeypatch.setattr(Client, "send", breaking)
    cut = await ctx(bob, "import", source)
    assert (cut.exit_code, "Run it again" in cut.output) == (1, True)
    monkeypatch.setattr(Client, "send", lambda *args: sent.append(args[2]) or send(*args))
    assert (await ctx(bob, "import", source)).exit_code == 0
    chunks = [path.rpartition("/")[2] for path in sent if "/chunks/" in path]
    assert chunks == ["1", "2", "3", "4", "5"]
    assert sum(path == "/v1/imports" for path in sent) == 1
    assert len((await bob.client.get("/v1/documents")).json()["data"]) == 4


@proves("IMPORT-BUSY")
async def test_an_import_waits_while_others_of_a_small_plan_write(ctx, alice, make, tmp_path, monkeypatch, sql):
    # Near an allowance the writes of a workspace queue up; whoever waits too long for its turn is asked to come back.
    await make.document(alice.client, content="a text")
    source = tmp_path / "a.tar.gz"
    source.write_bytes(await support.export(make, alice))
    other = await make.user()
    await make.plan(other, "trial")
    said, asked = [], asyncio.Event()
    loop = asyncio.get_running_loop()
    monkeypatch.setattr(client, "note", lambda text: said.append(text) or loop.call_soon_threadsafe(asked.set))
    async with sql.acquire() as writer:
        async with writer.transaction():
            await writer.execute(
                "SELECT pg_advisory_xact_lock(hashtextextended('quota' || $1::uuid, 0))", other.workspace_id
            )
            run = asyncio.create_task(ctx(other, "import", source))
            await asyncio.wait_for(asked.wait(), 30)
        done = await run
    assert (done.exit_code, "1 created" in done.output) == (0, True), done.output
    assert said[0] == "The service asks to wait; going on in 1 s."


async def test_an_export_that_was_cut_off_is_the_one_that_is_awaited_again(
    ctx, worker, alice, make, tmp_path, monkeypatch, sql
):
    await make.document(alice.client)
    target, download = tmp_path / "a.tar.gz", Client.download

    def cut(self, path, place):
        place.write_bytes(b"half")
        raise RefusedError(0, "UNREACHABLE", "The line is cut.")

    monkeypatch.setattr(Client, "download", cut)
    assert (await ctx(alice, "export", target)).exit_code == 1
    assert not target.exists()
    monkeypatch.setattr(Client, "download", download)
    assert (await ctx(alice, "export", target)).exit_code == 0
    assert len(support.files(target.read_bytes())) == 3
    assert await sql.fetchval("SELECT count(*) FROM exports WHERE workspace_id = $1", alice.workspace_id) == 1


async def test_what_cannot_be_done_says_so(ctx, alice, tmp_path):
    there, broken = tmp_path / "there.tar.gz", tmp_path / "broken.tar.gz"
    there.write_bytes(b"kept")
    broken.write_bytes(b"\x1f\x8bnonsense")
    kept = await ctx(alice, "export", there)
    assert (kept.exit_code, there.read_bytes()) == (2, b"kept")
    bad = await ctx(alice, "import", broken)
    assert (bad.exit_code, "cannot be read as an archive" in bad.output) == (1, True)
    assert (await ctx(alice, "import", broken, there)).exit_code == 2


@proves("IMPORT-WHOLE")
async def test_an_archive_that_is_cut_short_is_no_success(ctx, alice, bob, make, tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "_CHUNK_FILES", 1)
    await make.document(alice.client)
    made = await make.document(alice.client)
    whole = gzip.decompress(await support.export(make, alice))
    source = tmp_path / "a.tar.gz"
    source.write_bytes(gzip.compress(whole.removesuffix(archive.END)))
    done = await ctx(bob, "import", source)
    assert done.exit_code == 1, done.output
    said = " ".join(done.output.split())
    assert f"it is cut short, or damaged, after documents/{made['id']}.jsonl" in said
    assert "Before that, 1 items were created, 0 were there already" in said
    source.write_bytes(gzip.compress(whole))
    again = await ctx(bob, "import", source)
    assert (again.exit_code, "1 created, 1 were there already" in again.output) == (0, True), again.output
