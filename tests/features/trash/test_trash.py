"""The trash: what is listed, what comes back, what is purged and counted, and what goes by itself."""

from __future__ import annotations

import asyncio
import uuid
from datetime import datetime, timedelta

import pytest

from app.features.indexing import service as indexing
from app.features.trash import jobs
from app.store.jobs import Work
from tests.contract.requirements import proves
from tests.edge.mcp.wire import LEGACY_ERA
from tests.support.rows import tenant_tables


async def trashed(client, **params):
    return (await client.get("/v1/trash", params=params)).json()["data"]


async def deleted(make, client, **fields):
    made = await make.document(client, **fields)
    assert (await client.delete(f"/v1/documents/{made['id']}")).status_code == 204
    return made


async def found(client, q):
    hits = (await client.get("/v1/search", params={"q": q})).json()["data"]["documents"]
    return [hit["documentId"] for hit in hits]


@proves("TRASH-LIST")
async def test_the_trash_lists_the_last_deleted_first(alice, bob, make):
    await deleted(make, bob.client)
    first = await deleted(make, alice.client, title="First")
    collection = await make.collection(alice.client, name="Second")
    await alice.client.delete(f"/v1/collections/{collection['id']}")
    await make.document(alice.client, title="Kept")
    items = await trashed(alice.client)
    assert [(item["title"], item["kind"]) for item in items] == [("Second", "collection"), ("First", "document")]
    times = [datetime.fromisoformat(items[0][name]) for name in ("deletedAt", "expiresAt")]
    assert times[1] - times[0] == timedelta(days=30)
    assert [item["id"] for item in await trashed(alice.client, kind="document")] == [first["id"]]
    page = (await alice.client.get("/v1/trash", params={"limit": 1})).json()
    rest = await trashed(alice.client, limit=1, cursor=page["pagination"]["cursor"])
    assert [item["title"] for item in [*page["data"], *rest]] == ["Second", "First"]


@proves("TRASH-LIST")
async def test_kinds_that_the_key_may_not_touch_are_not_there(alice, make):
    made = await deleted(make, alice.client)
    prompts = make.client(await make.key(alice, scopes=("prompts.write",)))
    assert await trashed(prompts) == []
    assert (await prompts.post(f"/v1/trash/{made['id']}/restore")).status_code == 404
    assert (await prompts.delete(f"/v1/trash/{made['id']}")).status_code == 404
    reader = make.client(await make.key(alice, scopes=("documents.read", "prompts.write")))
    assert len(await trashed(reader)) == 1
    assert (await reader.delete(f"/v1/trash/{made['id']}")).status_code == 404


@proves("TRASH-RESTORE", "COL-TRASH")
async def test_a_restored_document_is_as_it_was_and_is_found_again(alice, make, index, sql):
    made = await make.document(alice.client, title="Fog", content="Sound the horn.", tags=["sea"])
    url = f"/v1/documents/{made['id']}"
    await alice.client.patch(url, json={"content": "Sound the horn in fog."})
    collection = await make.collection(alice.client, items=[made["id"]])
    await index.run(alice.workspace_id)
    before = (await alice.client.get(url)).json()["data"]
    await alice.client.delete(url)
    await index.run(alice.workspace_id)
    assert await found(alice.client, "horn") == []
    answer = await alice.client.post(f"/v1/trash/{made['id']}/restore")
    assert answer.json() == {"data": {"id": made["id"], "kind": "document", "revision": 2}}
    assert (await alice.client.get(url)).json()["data"] == before | {"status": "pending"}
    assert len((await alice.client.get(f"{url}/versions")).json()["data"]) == 2
    items = (await alice.client.get(f"/v1/collections/{collection['id']}/items")).json()["data"]
    assert [item["itemId"] for item in items] == [made["id"]]
    await index.run(alice.workspace_id)
    assert await found(alice.client, "horn") == [made["id"]]
    assert await index.faults(alice.workspace_id) == []
    assert await trashed(alice.client) == []
    again = await alice.client.post(f"/v1/trash/{made['id']}/restore")
    assert (again.status_code, again.json()["error"]["reason"]) == (404, "NOT_FOUND")
    topics = await sql.fetch("SELECT topic FROM events WHERE object_id = $1", uuid.UUID(made["id"]))
    assert "document.restored" in {row["topic"] for row in topics}


@proves("TRASH-RESTORE")
async def test_a_document_restored_before_the_index_forgot_it_stays_whole(alice, make, index, database):
    made = await make.document(alice.client, content="A text about kettles.")
    await index.run(alice.workspace_id)
    await alice.client.delete(f"/v1/documents/{made['id']}")
    await alice.client.post(f"/v1/trash/{made['id']}/restore")
    async with database.tx(alice.workspace_id) as tx:  # a worker that had claimed the deletion comes too late
        assert await indexing.forget(tx, uuid.UUID(made["id"])) is None
    await index.run(alice.workspace_id)
    assert await found(alice.client, "kettles") == [made["id"]]
    assert await index.faults(alice.workspace_id) == []


@proves("TRASH-RESTORE")
async def test_a_restored_collection_has_its_members(alice, make):
    document = await make.document(alice.client)
    made = await make.collection(alice.client, items=[document["id"]])
    url = f"/v1/collections/{made['id']}"
    before = (await alice.client.get(url)).json()
    await alice.client.delete(url)
    assert (await alice.client.post(f"/v1/trash/{made['id']}/restore")).status_code == 200
    assert (await alice.client.get(url)).json() == before
    assert before["data"]["itemCount"] == 1


@proves("TRASH-PURGE")
async def test_a_purge_removes_everything_and_counts_it(alice, make, index, sql):
    secret = "Zanzibar under the floor"
    made = await make.document(alice.client, title=secret, content=f"# {secret}\n\nOne.", tags=["hidden"])
    url = f"/v1/documents/{made['id']}"
    await alice.client.patch(url, json={"content": f"# {secret}\n\nTwo."}, headers={"idempotency-key": "patch-it"})
    await alice.client.patch(url, json={"title": f"{secret}!"})
    await make.collection(alice.client, items=[made["id"]])
    await index.run(alice.workspace_id)
    await alice.client.delete(url)
    answer = await alice.client.delete(f"/v1/trash/{made['id']}")
    assert answer.status_code == 200, answer.text
    counts = answer.json()["data"]["purged"]
    assert counts.keys() == {
        "revisions",
        "versions",
        "texts",
        "memberships",
        "chunks",
        "postings",
        "vectors",
        "sources",
        "files",
        "links",
        "answers",
    }
    assert (counts["revisions"], counts["versions"], counts["texts"], counts["memberships"]) == (3, 2, 2, 1)
    assert counts["answers"] == 1
    assert min(counts["chunks"], counts["postings"], counts["vectors"]) > 0
    for table in await tenant_tables(sql):
        rows = await sql.fetchval(
            f"SELECT count(*) FROM {table} t WHERE workspace_id = $1 AND (t::text ILIKE '%zanzibar%' OR t::text ILIKE"
            " '%hidden%')",
            alice.workspace_id,
        )
        assert rows == 0, table
    assert await index.faults(alice.workspace_id) == []
    assert await index.statistics(alice.workspace_id) == await index.recount(alice.workspace_id)
    row = await sql.fetchrow("SELECT revision, fence, purged_at FROM documents WHERE id = $1", uuid.UUID(made["id"]))
    assert (row["revision"], row["fence"], row["purged_at"] is not None) == (3, 0, True)
    for gone in (
        await alice.client.delete(f"/v1/trash/{made['id']}"),
        await alice.client.post(f"/v1/trash/{made['id']}/restore"),
        await alice.client.get(url),
        await alice.client.get(f"{url}/versions"),
    ):
        assert gone.status_code == 404


@proves("TRASH-PURGE")
async def test_a_purge_counts_of_the_index_what_it_had_not_forgotten_by_then(alice, make, index):
    made = await make.document(alice.client, title="Cellar", content="Under the floor.")
    await index.run(alice.workspace_id)
    await alice.client.delete(f"/v1/documents/{made['id']}")
    await index.run(alice.workspace_id)
    counts = (await alice.client.delete(f"/v1/trash/{made['id']}")).json()["data"]["purged"]
    assert (counts["chunks"], counts["postings"], counts["vectors"], counts["versions"]) == (0, 0, 0, 1)


@proves("TRASH-PURGE")
async def test_a_retry_of_a_write_about_a_purged_item_is_gone_and_not_done_again(alice):
    headers = {"idempotency-key": str(uuid.uuid4())}
    body = {"title": "Once", "content": "c"}
    made = (await alice.client.post("/v1/documents", json=body, headers=headers)).json()["data"]
    await alice.client.delete(f"/v1/documents/{made['id']}")
    await alice.client.delete(f"/v1/trash/{made['id']}")
    again = await alice.client.post("/v1/documents", json=body, headers=headers)
    assert (again.status_code, again.json()["error"]["reason"]) == (410, "GONE")
    assert (await alice.client.get("/v1/documents")).json()["data"] == []


@proves("TRASH-PURGE")
async def test_a_text_that_others_hold_stays(alice, make, index):
    kept = await make.document(alice.client, title="Same", content="The same text.")
    gone = await make.document(alice.client, title="Same", content="The same text.")
    await index.run(alice.workspace_id)
    await alice.client.delete(f"/v1/documents/{gone['id']}")
    counts = (await alice.client.delete(f"/v1/trash/{gone['id']}")).json()["data"]["purged"]
    assert (counts["texts"], counts["vectors"]) == (0, 0)
    assert (await alice.client.get(f"/v1/documents/{kept['id']}")).json()["data"]["content"] == "The same text."
    assert await found(alice.client, "same text") == [kept["id"]]
    assert await index.faults(alice.workspace_id) == []


@proves("TRASH-PURGE")
async def test_purges_while_others_write_the_same_text_break_nothing(alice, make):
    for number in range(12):
        text = f"Shared {number}"
        made = await deleted(make, alice.client, content=text)
        purge = alice.client.delete(f"/v1/trash/{made['id']}")
        writes = [alice.client.post("/v1/documents", json={"title": "t", "content": text}) for _ in range(3)]
        answers = await asyncio.gather(writes[0], purge, *writes[1:])
        assert sorted(answer.status_code for answer in answers) == [200, 201, 201, 201]
        for answer in answers:
            if answer.status_code == 201:
                read = await alice.client.get(f"/v1/documents/{answer.json()['data']['id']}")
                assert read.json()["data"]["content"] == text


@proves("TRASH-PURGE")
async def test_of_a_restore_and_a_purge_at_once_one_wins(alice, make):
    for _ in range(8):
        made = await deleted(make, alice.client)
        url = f"/v1/trash/{made['id']}"
        answers = await asyncio.gather(alice.client.post(f"{url}/restore"), alice.client.delete(url))
        assert sorted(answer.status_code for answer in answers) == [200, 404]
        restored = answers[0].status_code == 200
        read = await alice.client.get(f"/v1/documents/{made['id']}")
        assert read.status_code == (200 if restored else 404)


async def test_a_purged_collection_leaves_its_members(alice, make, sql):
    document = await make.document(alice.client)
    made = await make.collection(alice.client, name="Zanzibar", description="Zanzibar", items=[document["id"]])
    await alice.client.delete(f"/v1/collections/{made['id']}")
    counts = (await alice.client.delete(f"/v1/trash/{made['id']}")).json()["data"]["purged"]
    assert counts == {"memberships": 1, "postings": 0, "vectors": 0, "answers": 0}
    assert (await alice.client.get(f"/v1/documents/{document['id']}")).status_code == 200
    name = await sql.fetchval("SELECT name || description FROM collections WHERE id = $1", uuid.UUID(made["id"]))
    assert name == ""


OWN = {"revisions", "versions", "chunks", "postings", "sources", "files"}
"""What a restricted key learns of a purge; shared texts, archives and memberships would tell of what it cannot see."""


@proves("KEY-COLLECTIONS", "TRASH-PURGE")
async def test_a_restricted_key_purges_a_member_also_where_it_cannot_see(alice, make, index):
    text = "A text that two documents hold."
    member = await make.document(alice.client, title="Member", content=text)
    other = await make.document(alice.client, title="Member", content=text)
    mine = await make.collection(alice.client, items=[member["id"]])
    await make.collection(alice.client, items=[member["id"], other["id"]])
    await index.run(alice.workspace_id)
    holder = await make.restricted(alice, mine["id"])
    await alice.client.delete(f"/v1/documents/{other['id']}")
    assert await trashed(holder.client) == []
    assert (await holder.client.delete(f"/v1/trash/{other['id']}")).status_code == 404
    assert (await holder.client.post(f"/v1/trash/{other['id']}/restore")).status_code == 404
    await alice.client.post(f"/v1/trash/{other['id']}/restore")
    await index.run(alice.workspace_id)
    await holder.client.delete(f"/v1/documents/{member['id']}")
    assert [item["id"] for item in await trashed(holder.client)] == [member["id"]]
    answer = await holder.client.delete(f"/v1/trash/{member['id']}")
    assert (answer.status_code, answer.json()["data"]["purged"].keys()) == (200, OWN)
    assert (await alice.client.get(f"/v1/documents/{other['id']}")).json()["data"]["content"] == text
    assert await index.faults(alice.workspace_id) == []


@proves("TRASH-EXPIRES")
async def test_what_was_deleted_long_ago_goes_by_itself(alice, make, database, sql):
    old, young = await deleted(make, alice.client, title="Old"), await deleted(make, alice.client, title="Young")
    for made, age in ((old, "30 days 1 minute"), (young, "29 days 23 hours")):
        await sql.execute(
            "UPDATE documents SET deleted_at = now() - $2::text::interval WHERE id = $1", uuid.UUID(made["id"]), age
        )
    await jobs.sweep(Work(database, {}))
    assert [item["title"] for item in await trashed(alice.client)] == ["Young"]
    assert await sql.fetchval("SELECT purged_at IS NOT NULL FROM documents WHERE id = $1", uuid.UUID(old["id"]))


@pytest.mark.parametrize("method", ["POST", "DELETE"])
async def test_what_was_never_deleted_is_not_in_the_trash(alice, bob, make, method):
    live, foreign = await make.document(alice.client), await deleted(make, bob.client)
    for item in (live["id"], foreign["id"], str(uuid.uuid4()), "no-id"):
        path = f"/v1/trash/{item}" + ("/restore" if method == "POST" else "")
        answer = await alice.client.request(method, path)
        assert (answer.status_code, answer.json()["error"]["reason"]) == (404, "NOT_FOUND")
    assert len(await trashed(bob.client)) == 1


async def test_a_tool_deletes_into_the_trash(alice, make):
    made = await make.document(alice.client, title="Fog")
    await LEGACY_ERA.call(alice.client, "delete_document", {"documentId": made["id"]})
    assert [item["title"] for item in await trashed(alice.client)] == ["Fog"]
