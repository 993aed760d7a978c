"""Prompts in the trash, in collections, and under a key that is restricted to collections."""

import pytest

from tests.contract.requirements import proves
from tests.support.rows import tenant_tables

VERSIONED = {"content": "Second text for ${what}."}


async def members(client, collection):
    items = (await client.get(f"/v1/collections/{collection['id']}/items")).json()["data"]
    return [(item["itemType"], item["itemId"]) for item in items]


@proves("TRASH-RESTORE")
async def test_a_restored_prompt_is_as_it_was_and_in_its_collection_again(alice, make):
    collection = await make.collection(alice.client)
    made = await make.prompt(alice.client, collectionId=collection["id"])
    url = f"/v1/prompts/{made['id']}"
    await alice.client.patch(url, json=VERSIONED)
    before = (await alice.client.get(url)).json()
    assert await members(alice.client, collection) == [("prompt", made["id"])]
    await alice.client.delete(url)
    assert await members(alice.client, collection) == []
    (item,) = (await alice.client.get("/v1/trash")).json()["data"]
    assert (item["id"], item["kind"]) == (made["id"], "prompt")
    restored = await alice.client.post(f"/v1/trash/{made['id']}/restore")
    assert restored.json()["data"] == {"id": made["id"], "kind": "prompt", "revision": 2}
    assert (await alice.client.get(url)).json() == before
    assert await members(alice.client, collection) == [("prompt", made["id"])]


@proves("TRASH-PURGE")
async def test_a_purged_prompt_leaves_a_tombstone_alone(alice, make, sql):
    collection = await make.collection(alice.client)
    secret = "nobody-reads-this-again"
    made = await make.prompt(alice.client, title=secret, content=f"{secret} ${{a}}", collectionId=collection["id"])
    url = f"/v1/prompts/{made['id']}"
    await alice.client.patch(url, json={"content": f"{secret} twice"})
    version = (await alice.client.get(f"{url}/versions")).json()["data"][0]["id"]
    await alice.client.put(f"{url}/labels/production", json={"versionId": version})
    await alice.client.delete(url)
    purged = await alice.client.delete(f"/v1/trash/{made['id']}")
    counts = purged.json()["data"]["purged"]
    assert (counts["versions"], counts["labels"], counts["memberships"]) == (2, 1, 1)
    for table in await tenant_tables(sql):
        assert await sql.fetchval(f"SELECT count(*) FROM {table} x WHERE x::text LIKE '%{secret}%'") == 0, table
    assert (await alice.client.post(f"/v1/trash/{made['id']}/restore")).status_code == 404


@proves("KEY-COLLECTIONS")
async def test_a_restricted_key_sees_and_makes_only_members(alice, make):
    collection = await make.collection(alice.client)
    inside = await make.prompt(alice.client, title="Inside", collectionId=collection["id"])
    outside = await make.prompt(alice.client, title="Outside")
    narrow = await make.restricted(alice, collection["id"])
    listed = (await narrow.client.get("/v1/prompts")).json()["data"]
    assert [item["id"] for item in listed] == [inside["id"]]
    for method, path, body in (
        ("GET", "", None),
        ("GET", "/versions", None),
        ("GET", "/labels", None),
        ("PATCH", "", {"title": "Taken"}),
        ("DELETE", "", None),
    ):
        answer = await narrow.client.request(method, f"/v1/prompts/{outside['id']}{path}", json=body)
        assert answer.status_code == 404, (method, path)
    sent = {"title": "New", "description": "d", "content": "c"}
    refused = await narrow.client.post("/v1/prompts", json=sent)
    assert (refused.status_code, refused.json()["error"]["reason"]) == (400, "INVALID_REQUEST")
    made = await narrow.client.post("/v1/prompts", json=sent | {"collectionId": collection["id"]})
    assert made.status_code == 201
    assert (await narrow.client.patch(f"/v1/prompts/{made.json()['data']['id']}", json=VERSIONED)).status_code == 200


@pytest.mark.parametrize("whose", ["nobody", "another key's"])
async def test_a_prompt_is_put_into_collections_within_reach_alone(alice, make, whose):
    other = await make.collection(alice.client)
    own = await make.collection(alice.client)
    narrow = await make.restricted(alice, own["id"])
    place = "00000000-0000-4000-8000-000000000000" if whose == "nobody" else other["id"]
    sent = {"title": "New", "description": "d", "content": "c", "collectionId": place}
    answer = await narrow.client.post("/v1/prompts", json=sent)
    assert answer.status_code == 404
    assert (await alice.client.get("/v1/prompts")).json()["data"] == []
