"""Many writes in one call, each for itself."""

from __future__ import annotations

from uuid import uuid4

import pytest

from tests.contract.requirements import proves

BATCH = "/v1/documents:batch"


def create(number, **more):
    return {"op": "create", "title": f"Number {number}", "content": f"text {number}", **more}


async def send(client, items, key=None):
    headers = {"Idempotency-Key": key} if key else {}
    return await client.post(BATCH, json={"items": items}, headers=headers)


async def count(client):
    return len((await client.get("/v1/documents", params={"limit": 100})).json()["data"])


@proves("BATCH", "BATCH-ONE")
async def test_items_are_done_in_order_and_fail_alone(alice, bob, make):
    made = await make.document(alice.client, content="old")
    foreign = await make.document(bob.client)
    answer = await send(
        alice.client,
        [
            create(1, tags=["a"]),
            {"op": "update", "documentId": made["id"], "content": "new", "expectedRevision": 1},
            {"op": "update", "documentId": made["id"], "content": "newer", "expectedRevision": 1},
            {"op": "update", "documentId": made["id"], "edits": [{"op": "insert", "text": "!"}]},
            {"op": "update", "documentId": foreign["id"], "content": "x"},
            {"op": "create", "title": "no content"},
            create(2, unknown=1),
            {"op": "delete", "documentId": made["id"]},
            {"op": "purge"},
            {"op": ["create"]},
            create(3),
        ],
    )
    assert answer.status_code == 200
    items = answer.json()["data"]
    assert [item["status"] for item in items] == [201, 200, 409, 200, 404, 400, 400, 204, 400, 400, 201]
    assert (items[0]["data"]["title"], items[0]["data"]["tags"]) == ("Number 1", ["a"])
    assert items[3]["data"]["revision"] == 3
    assert items[2]["error"]["reason"] == "REVISION_MISMATCH"
    assert items[5]["error"]["details"][0]["field"] == "content"
    assert items[7] == {"status": 204}
    assert all(("error" in item) is (item["status"] >= 400) for item in items)
    assert await count(alice.client) == 2


@proves("BATCH-KEY")
async def test_a_batch_that_was_cut_off_is_sent_again(alice):
    key = uuid4().hex
    items = [create(n) for n in range(5)]
    part = (await send(alice.client, items[:3], key)).json()["data"]
    whole = await send(alice.client, items, key)
    assert whole.json()["data"][:3] == part
    assert (await send(alice.client, items, key)).content == whole.content
    assert await count(alice.client) == 5
    changed = (await send(alice.client, [create(9)], key)).json()["data"]
    assert changed[0]["error"]["reason"] == "IDEMPOTENCY_KEY_REUSED"


@proves("BATCH-KEY")
async def test_a_key_of_its_own_outranks_the_batchs_and_is_that_of_a_single_call(alice):
    key, own = uuid4().hex, uuid4().hex
    first = (await send(alice.client, [create(1, idempotencyKey=own)], key)).json()["data"][0]
    again = (await send(alice.client, [create(0), create(1, idempotencyKey=own)])).json()["data"][1]
    assert again == first
    body = {"title": "Number 1", "content": "text 1"}
    single = await alice.client.post("/v1/documents", json=body, headers={"Idempotency-Key": own})
    assert (single.headers["idempotency-replayed"], single.json()["data"]) == ("true", first["data"])
    assert await count(alice.client) == 2


@pytest.mark.parametrize("key", [1, "", "x" * 256, "\n"])
async def test_an_item_with_a_key_that_is_none_fails_alone(alice, key):
    found = (await send(alice.client, [create(1, idempotencyKey=key), create(2)])).json()["data"]
    assert [item["status"] for item in found] == [400, 201]


@proves("BATCH-ONE")
async def test_a_managed_document_is_written_with_its_lease(alice, make):
    made = await make.document(alice.client)
    url = f"/v1/documents/{made['id']}/coordination"
    await alice.client.put(url, json={"policy": "lease_required"}, headers={"If-Match": made["etag"]})
    key = {"Idempotency-Key": uuid4().hex}
    lease = (await alice.client.post(f"{url}/lease", json={"action": "acquire"}, headers=key)).json()["data"]
    change = {"op": "update", "documentId": made["id"], "content": "new", "expectedRevision": 1}
    shown = {"leaseId": lease["leaseId"], "leaseFence": lease["fence"]}
    found = (await send(alice.client, [change, change | shown], uuid4().hex)).json()["data"]
    assert [item.get("error", {}).get("reason") for item in found] == ["LEASE_REQUIRED", None]


@pytest.mark.parametrize("items", [[], [create(0)] * 501, {}, None, ["create"], [1]])
@proves("BATCH-LIMIT")
async def test_a_batch_that_is_none_is_refused_as_a_whole(alice, items):
    answer = await send(alice.client, items)
    assert (answer.status_code, answer.json()["error"]["reason"]) == (400, "INVALID_REQUEST")


@proves("BATCH-LIMIT")
async def test_five_hundred_items_count_once(alice, make, strict):
    caller = await make.user()
    answer = await send(strict.client(caller.key), [create(n) for n in range(500)])
    assert {item["status"] for item in answer.json()["data"]} == {201}
    assert (await send(strict.client(caller.key), [create(0)])).status_code == 429


@proves("BATCH-LIMIT")
async def test_the_body_limit_holds_for_the_sum(alice):
    answer = await send(alice.client, [create(n, content="x" * 600_000) for n in range(18)])
    assert answer.status_code == 413


async def test_another_tenants_document_answers_like_one_that_never_was(alice, bob, make):
    foreign = await make.document(bob.client)
    items = [{"op": "delete", "documentId": some} for some in (foreign["id"], str(uuid4()), "none")]
    first, second, third = (await send(alice.client, items)).json()["data"]
    assert first == second == third
    assert first["status"] == 404


async def test_each_item_is_audited_as_the_call_it_stands_for(alice, sql):
    await send(alice.client, [create(1)])
    names = await sql.fetch("SELECT operation FROM audit WHERE workspace_id = $1", alice.workspace_id)
    assert [row["operation"] for row in names] == ["documents.create"]


@proves("BATCH-ONE")
async def test_what_cannot_be_stored_fails_its_item_alone(alice):
    hidden = {"op": "create", "title": "a\x00b", "content": "x"}
    keyed = create(1, idempotencyKey="a\x00b")
    items = (await send(alice.client, [hidden, keyed, create(2, tags=["\x00"]), {"op": "\x00"}, create(3)])).json()[
        "data"
    ]
    assert [item["status"] for item in items] == [400, 400, 400, 400, 201]
    assert "U+0000" in items[0]["error"]["message"]
    answer = await alice.client.post(BATCH, json={"items": [create(4)], "\x00": 1})
    assert answer.status_code == 400
    assert await count(alice.client) == 1
