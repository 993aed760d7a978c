"""Exports: a job, its progress, and what is in the archive."""

from __future__ import annotations

import json
from uuid import UUID

import yaml

from app.features.exports import jobs, queries, service
from app.store.jobs import Work
from tests.contract.requirements import proves
from tests.support import archives


@proves("EXPORT")
async def test_an_export_tells_its_progress_and_then_gives_the_archive(alice, make, database):
    for number in range(3):
        await make.document(alice.client, title=f"T{number}")
    started = await alice.client.post("/v1/exports", headers={"idempotency-key": "one"})
    again = await alice.client.post("/v1/exports", headers={"idempotency-key": "one"})
    assert (started.status_code, again.content) == (202, started.content)
    data = started.json()["data"]
    url = started.headers["location"]
    assert (data["state"], data["itemsDone"], data["itemsTotal"]) == ("running", 0, 3)
    early = await alice.client.get(f"{url}/content")
    assert (early.status_code, early.json()["error"]["reason"]) == (409, "EXPORT_RUNNING")
    await jobs.export(Work(database, {}), {"workspace": str(alice.workspace_id), "export": data["id"]})
    done = (await alice.client.get(url)).json()["data"]
    assert (done["state"], done["itemsDone"]) == ("ready", 3)
    answer = await alice.client.get(f"{url}/content")
    assert answer.headers["content-type"] == "application/gzip"
    assert answer.headers["content-disposition"].startswith('attachment; filename="context-repo-')
    names = [name for name, _ in archives.files(answer.content)]
    assert names[0] == "manifest.json"
    assert len(names) == 7


@proves("EXPORT")
async def test_front_matter_is_yaml_and_the_text_follows_as_it_is_stored(alice, make):
    title, text = 'A: "b" — #c\u2028{}', "# Heading\r\n\n---\n\nEnd without newline"
    made = await make.document(alice.client, title=title, content=text, tags=["x: y", "true"])
    content = dict(archives.files(await archives.export(make, alice)))
    stored = content[f"documents/{made['id']}.md"]
    head, _, rest = stored.removeprefix("---\n").partition("\n---\n\n")
    read = yaml.safe_load(head)
    assert (read["title"], read["tags"], read["revision"], rest) == (title, ["x: y", "true"], 1, text)
    lines = [json.loads(line) for line in content[f"documents/{made['id']}.jsonl"].splitlines()]
    assert [line["type"] for line in lines] == ["document", "revision"]
    assert lines[1]["userName"]


@proves("EXPORT-MOMENT")
async def test_documents_are_as_they_were_when_the_export_began(alice, make):
    kept = await make.document(alice.client, title="Before", content="before")
    gone = await make.document(alice.client, content="deleted later")
    export_id = (await alice.client.post("/v1/exports")).json()["data"]["id"]
    await alice.client.patch(f"/v1/documents/{kept['id']}", json={"title": "After", "content": "after"})
    await alice.client.delete(f"/v1/documents/{gone['id']}")
    await make.document(alice.client, content="made later")
    await make.export(alice, export_id)
    content = archives.files((await alice.client.get(f"/v1/exports/{export_id}/content")).content)
    joined = "".join(text for _, text in content)
    assert "before" in joined
    assert "deleted later" in joined
    assert not {"After", "after", "made later"}.intersection(joined.replace('"', " ").split())
    assert "made later" not in joined


@proves("EXPORT-MOMENT")
async def test_an_export_waits_for_writes_that_began_before_it(alice, make, database, sql):
    export_id = UUID((await alice.client.post("/v1/exports")).json()["data"]["id"])
    async with database.tx(alice.workspace_id) as tx:
        transaction = await queries.transaction_id(tx)
        assert not await queries.is_settled(database, transaction)
    await service.settle(database, alice.workspace_id)
    assert await queries.is_settled(database, transaction)
    assert not await service.work(database, alice.workspace_id, export_id)


@proves("EXPORT")
async def test_an_export_that_was_cut_off_goes_on_where_it_was(alice, make, database, monkeypatch):
    monkeypatch.setattr(service, "_STEP_ITEMS", 2)
    for number in range(5):
        await make.document(alice.client, content=f"text {number}")
    export_id = UUID((await alice.client.post("/v1/exports")).json()["data"]["id"])
    written = service._write_document
    calls = []

    async def failing(*args):
        calls.append(args)
        if len(calls) == 4:
            raise OSError
        await written(*args)

    monkeypatch.setitem(service._WRITERS, "documents", failing)
    try:
        await service.work(database, alice.workspace_id, export_id)
    except OSError:
        assert (await alice.client.get(f"/v1/exports/{export_id}")).json()["data"]["itemsDone"] == 2
    assert not await service.work(database, alice.workspace_id, export_id)
    content = archives.files((await alice.client.get(f"/v1/exports/{export_id}/content")).content)
    assert len(content) == 11
    assert len({path for path, _ in content}) == 11


async def test_large_histories_are_several_parts_and_one_archive(alice, make, monkeypatch, database, sql):
    monkeypatch.setattr(service, "_PART_BYTES", 2000)
    made = await make.document(alice.client, content="a" * 3000)
    for letter in "bcd":
        await alice.client.patch(f"/v1/documents/{made['id']}", json={"content": letter * 3000})
    content = archives.files(await archives.export(make, alice))
    assert [text[-1] for path, text in content if path.endswith(".md")] == ["a", "b", "c", "d"]
    assert await sql.fetchval("SELECT max(parts) FROM exports WHERE workspace_id = $1", alice.workspace_id) >= 5


@proves("EXPORT-RIGHTS")
async def test_exports_need_both_read_scopes_and_an_unrestricted_key(alice, make):
    half = make.client(await make.key(alice, scopes=("documents.read",)))
    answer = await half.post("/v1/exports")
    assert (answer.status_code, "prompts.read" in answer.text) == (403, True)
    kept = await make.collection(alice.client)
    narrow = await make.restricted(alice, kept["id"])
    assert (await narrow.client.post("/v1/exports")).status_code == 403
    export_id = (await alice.client.post("/v1/exports")).json()["data"]["id"]
    for path in ("", "/content"):
        for client in (half, narrow.client):
            assert (await client.get(f"/v1/exports/{export_id}{path}")).status_code == 403
    viewer = await make.member(alice.workspace_id, "viewer")
    assert (await viewer.client.post("/v1/exports")).status_code == 202


async def test_an_archive_is_removed_when_its_time_is_over_and_others_stay(alice, make, database, sql):
    await make.document(alice.client)
    old, kept = [(await alice.client.post("/v1/exports")).json()["data"]["id"] for _ in range(2)]
    for export_id in (old, kept):
        await make.export(alice, export_id)
    await sql.execute("UPDATE exports SET created_at = created_at - interval '25 hours' WHERE id = $1::text::uuid", old)
    while await queries.list_expired(database, 1):
        await jobs.sweep(Work(database, {}))
    assert (await alice.client.get(f"/v1/exports/{old}")).json()["data"]["state"] == "gone"
    assert (await alice.client.get(f"/v1/exports/{old}/content")).status_code == 410
    assert (await alice.client.get(f"/v1/exports/{kept}/content")).status_code == 200


async def test_a_purge_takes_every_archive_with_it(alice, make, sql):
    made = await make.document(alice.client, content="a secret")
    ready, running = [(await alice.client.post("/v1/exports")).json()["data"]["id"] for _ in range(2)]
    await make.export(alice, ready)
    await alice.client.delete(f"/v1/documents/{made['id']}")
    purged = await alice.client.delete(f"/v1/trash/{made['id']}")
    assert purged.json()["data"]["purged"]["archives"] == 2
    await make.export(alice, running)
    for export_id in (ready, running):
        assert (await alice.client.get(f"/v1/exports/{export_id}/content")).status_code == 410
    assert await sql.fetchval("SELECT count(*) FROM blobs WHERE workspace_id = $1", alice.workspace_id) == 0


async def exported(make, user):
    started = await user.client.post("/v1/exports")
    await make.export(user, started.json()["data"]["id"])
    return started.headers["location"]


async def test_a_purge_spares_the_archives_that_never_held_the_item(alice, make):
    kept = await make.document(alice.client)
    before = await exported(make, alice)
    late = await make.document(alice.client)
    after = await exported(make, alice)
    await alice.client.delete(f"/v1/documents/{late['id']}")
    without = await exported(make, alice)
    counts = (await alice.client.delete(f"/v1/trash/{late['id']}")).json()["data"]["purged"]
    assert counts["archives"] == 1
    states = [(await alice.client.get(url)).json()["data"]["state"] for url in (before, after, without)]
    assert states == ["ready", "gone", "ready"]
    await alice.client.delete(f"/v1/documents/{kept['id']}")
    assert (await alice.client.delete(f"/v1/trash/{kept['id']}")).json()["data"]["purged"]["archives"] == 2
