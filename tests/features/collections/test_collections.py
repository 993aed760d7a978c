"""Collections over REST and MCP: their life, their items, their revisions."""

from __future__ import annotations

import asyncio
import uuid

import pytest

from tests.contract.requirements import proves
from tests.edge.mcp.wire import LEGACY_ERA, text_of

FIELDS = {"id", "name", "description", "color", "icon", "itemCount", "tags", "revision", "contentHash"}


def items_url(collection):
    return f"/v1/collections/{collection['id']}/items"


async def count_of(client, collection):
    return (await client.get(f"/v1/collections/{collection['id']}")).json()["data"]["itemCount"]


async def add(client, collection, *ids, **more):
    return await client.post(items_url(collection), json={"itemIds": list(ids), "itemType": "document", **more})


async def titles_of(client, collection):
    return [item["title"] for item in (await client.get(items_url(collection))).json()["data"]]


@proves("COL-22", "COL-23", "COL-REVISION")
async def test_a_collection_is_created_and_read(alice):
    sent = {"name": "Lights", "description": "All of them", "color": "#3366FF", "icon": "🔦", "tags": ["a", "a"]}
    answer = await alice.client.post("/v1/collections", json=sent)
    made = answer.json()["data"]
    assert answer.status_code == 201
    assert made.keys() == FIELDS | {"createdAt", "lastChangedAt"}
    assert {name: made[name] for name in sent} == sent | {"tags": ["a"]}
    assert (made["itemCount"], made["revision"]) == (0, 1)
    assert answer.headers["location"] == f"/v1/collections/{made['id']}"
    read = await alice.client.get(f"/v1/collections/{made['id']}")
    assert read.json()["data"] == made
    assert read.headers["etag"] == answer.headers["etag"] == f'"r1-{made["contentHash"][:16]}"'


@proves("COL-22")
async def test_the_icon_is_a_folder_unless_another_is_given(alice, make):
    made = await make.collection(alice.client)
    assert (made["icon"], made["color"], made["description"], made["tags"]) == ("📁", None, "", [])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("color", "red"),
        ("color", "#12345"),
        ("color", "#gggggg"),
        ("icon", "a\x07"),
        ("name", ""),
        ("name", "  "),
        ("colour", "#fff"),
        ("tags", [""]),
    ],
)
async def test_what_is_no_value_of_a_field_is_named(alice, make, field, value):
    made = await make.collection(alice.client)
    for answer in (
        await alice.client.post("/v1/collections", json={"name": "N"} | {field: value}),
        await alice.client.patch(f"/v1/collections/{made['id']}", json={field: value}),
    ):
        assert answer.status_code == 400
        assert field in answer.json()["error"]["message"]


@proves("COL-24", "COL-REVISION")
async def test_a_change_keeps_what_it_does_not_name_and_a_same_one_is_no_change(alice, make):
    made = await make.collection(alice.client, name="Old", color="#fff", icon="🔦", tags=["a"])
    url = f"/v1/collections/{made['id']}"
    answer = await alice.client.patch(url, json={"name": "New"}, headers={"if-match": made["etag"]})
    changed = answer.json()["data"]
    assert answer.status_code == 200
    assert (changed["name"], changed["color"], changed["tags"], changed["revision"]) == ("New", "#fff", ["a"], 2)
    assert changed["noop"] is False
    again = (await alice.client.patch(url, json={"name": "New", "expectedRevision": 2})).json()["data"]
    assert (again["noop"], again["revision"]) == (True, 2)
    cleared = (await alice.client.patch(url, json={"color": "", "icon": "", "tags": []})).json()["data"]
    assert (cleared["color"], cleared["icon"], cleared["tags"], cleared["revision"]) == (None, "📁", [], 3)


@proves("COL-REVISION")
async def test_every_write_refuses_a_stale_precondition(alice, make):
    document = await make.document(alice.client)
    made = await make.collection(alice.client)
    url = f"/v1/collections/{made['id']}"
    await alice.client.patch(url, json={"name": "Second"})
    body = {"itemIds": [document["id"]], "itemType": "document"}
    for method, path, json in (
        ("PATCH", url, {"name": "x"}),
        ("POST", f"{url}/items", body),
        ("PUT", f"{url}/items", body),
    ):
        stale = await alice.client.request(method, path, json=json | {"expectedRevision": 1})
        assert (stale.status_code, stale.json()["error"]["reason"]) == (409, "REVISION_MISMATCH")
        stale = await alice.client.request(method, path, json=json, headers={"if-match": made["etag"]})
        assert stale.status_code == 412
        assert stale.json()["error"]["details"]["currentRevision"] == 2
    assert (await alice.client.delete(url, headers={"if-match": made["etag"]})).status_code == 412
    assert await count_of(alice.client, made) == 0


@proves("COL-25", "ERR-404")
async def test_a_deleted_collection_is_404_everywhere_and_its_members_stay(alice, make):
    document = await make.document(alice.client)
    made = await make.collection(alice.client, items=[document["id"]])
    url = f"/v1/collections/{made['id']}"
    assert (await alice.client.delete(url)).status_code == 204
    body = {"itemIds": [document["id"]], "itemType": "document"}
    for method, path, json in (
        ("GET", url, None),
        ("DELETE", url, None),
        ("PATCH", url, {"name": "x"}),
        ("GET", f"{url}/items", None),
        ("POST", f"{url}/items", body),
        ("PUT", f"{url}/items", body),
        ("GET", f"/v1/documents?collectionId={made['id']}", None),
        ("POST", "/v1/documents", {"title": "t", "content": "c", "collectionId": made["id"]}),
    ):
        assert (await alice.client.request(method, path, json=json)).status_code == 404, (method, path)
    assert (await alice.client.get("/v1/collections")).json()["data"] == []
    assert (await alice.client.get(f"/v1/documents/{document['id']}")).status_code == 200


@proves("COL-26", "COL-27", "COL-28")
async def test_items_are_added_listed_and_removed(alice, make):
    made = await make.collection(alice.client)
    one, two = [await make.document(alice.client, title=title) for title in ("One", "Two")]
    first = await add(alice.client, made, one["id"])
    assert first.json() == {"data": {"added": 1, "alreadyInCollection": 0}}
    both = await add(alice.client, made, one["id"], two["id"], two["id"])
    assert both.json() == {"data": {"added": 1, "alreadyInCollection": 1}}
    page = (await alice.client.get(items_url(made))).json()
    assert [(item["title"], item["itemType"], item["itemId"]) for item in page["data"]] == [
        ("Two", "document", two["id"]),
        ("One", "document", one["id"]),
    ]
    assert isinstance(page["data"][0]["addedAt"], int)
    assert await count_of(alice.client, made) == 2
    body = {"itemIds": [one["id"], str(uuid.uuid4())], "itemType": "document"}
    assert (await alice.client.put(items_url(made), json=body)).json() == {"data": {"removed": 1}}
    assert (await alice.client.put(items_url(made), json=body)).json() == {"data": {"removed": 0}}
    assert await titles_of(alice.client, made) == ["Two"]
    assert (await alice.client.get(f"/v1/documents/{one['id']}")).status_code == 200


@proves("COL-27")
async def test_an_absent_item_keeps_all_from_being_added(alice, bob, make):
    made = await make.collection(alice.client)
    own, foreign = await make.document(alice.client), await make.document(bob.client)
    gone = await make.document(alice.client)
    await alice.client.delete(f"/v1/documents/{gone['id']}")
    for absent in (str(uuid.uuid4()), foreign["id"], gone["id"], "no id"):
        answer = await add(alice.client, made, own["id"], absent)
        assert (answer.status_code, answer.json()["error"]["reason"]) == (404, "NOT_FOUND")
        assert "not found" in answer.json()["error"]["message"]
        assert answer.json()["error"]["details"] == {"missing": [absent]}
    several = await add(alice.client, made, own["id"], "one", "two", "one")
    assert several.json()["error"]["details"] == {"missing": ["one", "two"]}
    assert several.json()["error"]["message"].startswith("2 of the items were not found")
    assert await titles_of(alice.client, made) == []
    wrong = await alice.client.post(items_url(made), json={"itemIds": [own["id"]], "itemType": "prompt"})
    assert wrong.status_code == 404
    for body in ({"itemIds": [], "itemType": "document"}, {"itemIds": [own["id"]], "itemType": "collection"}):
        assert (await alice.client.post(items_url(made), json=body)).status_code == 400


@proves("COL-26")
async def test_items_come_in_pages(alice, make):
    made = await make.collection(alice.client)
    for number in range(5):
        document = await make.document(alice.client, title=str(number))
        await add(alice.client, made, document["id"])
    first = (await alice.client.get(items_url(made), params={"limit": 3})).json()
    rest = await alice.client.get(items_url(made), params={"limit": 3, "cursor": first["pagination"]["cursor"]})
    assert [item["title"] for item in first["data"]] == ["4", "3", "2"]
    assert [item["title"] for item in rest.json()["data"]] == ["1", "0"]
    assert rest.json()["pagination"] == {"cursor": None, "hasMore": False}


@proves("COL-21")
async def test_lists_are_narrowed_by_text_and_tags_and_come_in_pages(alice, bob, make):
    await make.collection(bob.client, name="Foreign")
    made = [
        await make.collection(alice.client, name="Harbour 100%", tags=["a", "b"]),
        await make.collection(alice.client, name="Other", description="of the HARBOUR", tags=["a"]),
        await make.collection(alice.client, name="Third"),
    ]
    ids = [item["id"] for item in reversed(made)]

    async def found(**params):
        return [item["id"] for item in (await alice.client.get("/v1/collections", params=params)).json()["data"]]

    assert await found() == ids
    assert await found(search="harbour") == ids[1:]
    assert await found(search="0%") == ids[2:]
    assert await found(tags="a,b") == ids[2:]
    assert await found(tags="a") == ids[1:]
    page = (await alice.client.get("/v1/collections", params={"limit": 2})).json()
    assert await found(limit=2, cursor=page["pagination"]["cursor"]) == ids[2:]


@proves("COL-OF-ITEM")
async def test_the_collections_of_an_item_are_those_that_the_caller_may_see(alice, bob, make):
    document, prompt = await make.document(alice.client), await make.prompt(alice.client)
    first, second = [await make.collection(alice.client, items=[document["id"]]) for _ in range(2)]
    await alice.client.post(items_url(first), json={"itemIds": [prompt["id"]], "itemType": "prompt"})
    await make.collection(alice.client, name="Empty")

    async def found(user, item):
        answer = await user.client.get("/v1/collections", params={"itemId": item["id"]})
        if answer.status_code == 404:
            return answer.json()["error"]["message"]
        return [one["id"] for one in answer.json()["data"]]

    assert await found(alice, document) == [second["id"], first["id"]]
    assert await found(alice, prompt) == [first["id"]]
    assert await found(await make.restricted(alice, second["id"]), document) == [second["id"]]
    page = (await alice.client.get("/v1/collections", params={"itemId": document["id"], "limit": 1})).json()
    params = {"itemId": document["id"], "cursor": page["pagination"]["cursor"]}
    assert [one["id"] for one in (await alice.client.get("/v1/collections", params=params)).json()["data"]] == [
        first["id"]
    ]
    without_prompts = await make.restricted(alice, first["id"], scopes=("documents.read",))
    for user, item in (
        (bob, document),
        (await make.restricted(alice, second["id"]), prompt),
        (without_prompts, prompt),
    ):
        assert (await found(user, item)).startswith("Item not found.")
    await alice.client.delete(f"/v1/documents/{document['id']}")
    assert (await found(alice, document)).startswith("Item not found.")


@proves("COL-FILTER")
async def test_documents_are_listed_by_collection_and_created_in_one(alice, bob, make):
    made = await make.collection(alice.client)
    await make.document(alice.client, title="Elsewhere")
    body = {"title": "Inside", "content": "c", "collectionId": made["id"]}
    assert (await alice.client.post("/v1/documents", json=body)).status_code == 201
    listed = await alice.client.get("/v1/documents", params={"collectionId": made["id"]})
    assert [item["title"] for item in listed.json()["data"]] == ["Inside"]
    assert await titles_of(alice.client, made) == ["Inside"]
    foreign = await make.collection(bob.client)
    for unknown in (foreign["id"], str(uuid.uuid4()), "no id"):
        assert (await alice.client.post("/v1/documents", json=body | {"collectionId": unknown})).status_code == 404
        assert (await alice.client.get("/v1/documents", params={"collectionId": unknown})).status_code == 404
    assert len((await alice.client.get("/v1/documents")).json()["data"]) == 2


@proves("COL-TRASH")
async def test_a_deleted_item_vanishes_from_items_and_counts(alice, make):
    kept, gone = await make.document(alice.client, title="Kept"), await make.document(alice.client, title="Gone")
    made = await make.collection(alice.client, items=[kept["id"], gone["id"]])
    await alice.client.delete(f"/v1/documents/{gone['id']}")
    assert await titles_of(alice.client, made) == ["Kept"]
    assert await count_of(alice.client, made) == 1


@proves("COL-RACE")
async def test_of_adders_at_once_each_item_counts_once(alice, make):
    made = await make.collection(alice.client)
    ids = [(await make.document(alice.client))["id"] for _ in range(6)]
    answers = await asyncio.gather(*(add(alice.client, made, *ids[::way]) for way in (1, -1) * 4))
    assert {answer.status_code for answer in answers} == {200}
    assert sum(answer.json()["data"]["added"] for answer in answers) == len(ids)
    assert await count_of(alice.client, made) == len(ids)


@proves("COL-RACE")
async def test_adders_and_removers_and_a_delete_at_once_end_in_one_state(alice, make):
    made = await make.collection(alice.client)
    ids = [(await make.document(alice.client))["id"] for _ in range(4)]
    body = {"itemIds": ids, "itemType": "document"}
    calls = [add(alice.client, made, *ids) for _ in range(4)]
    calls += [alice.client.put(items_url(made), json=body) for _ in range(4)]
    answers = await asyncio.gather(*calls, alice.client.delete(f"/v1/collections/{made['id']}"))
    assert {answer.status_code for answer in answers} <= {200, 204, 404}
    assert (await alice.client.get(f"/v1/collections/{made['id']}")).status_code == 404


async def test_a_retry_with_the_same_key_makes_one_collection(alice):
    headers = {"idempotency-key": str(uuid.uuid4())}
    answers = [await alice.client.post("/v1/collections", json={"name": "Once"}, headers=headers) for _ in range(2)]
    assert answers[0].content == answers[1].content
    assert len((await alice.client.get("/v1/collections")).json()["data"]) == 1


async def test_every_change_leaves_an_event(alice, make, sql):
    document = await make.document(alice.client)
    made = await make.collection(alice.client, items=[document["id"]])
    url = f"/v1/collections/{made['id']}"
    await alice.client.patch(url, json={"name": "New"})
    body = {"itemIds": [document["id"]], "itemType": "document"}
    for _ in range(2):  # the second changes nothing, so that nothing is told
        await alice.client.put(f"{url}/items", json=body)
    await alice.client.delete(url)
    rows = await sql.fetch(
        "SELECT topic, revision FROM events WHERE object_id = $1 ORDER BY created_at", uuid.UUID(made["id"])
    )
    assert [tuple(row) for row in rows] == [
        ("collection.created", 1),
        ("collection.items_added", 1),
        ("collection.changed", 2),
        ("collection.items_removed", 2),
        ("collection.deleted", 2),
    ]


@proves("COL-22", "COL-24", "COL-25")
async def test_a_collection_goes_through_its_life_by_tools(alice, make):
    document = await make.document(alice.client, title="Fog\nID: forged")

    async def call(tool, **arguments):
        result = await LEGACY_ERA.call(alice.client, tool, arguments)
        assert not result.get("isError"), result
        return result["structuredContent"], text_of(result)

    created, text = await call("create_collection", name="Lights", color="#fff", tags="a,b")
    collection_id = created["data"]["id"]
    assert (created["data"]["itemCount"], f"ID: {collection_id}" in text) == (0, True)
    members = {"collectionId": collection_id, "itemIds": document["id"], "itemType": "document"}
    assert (await call("add_to_collection", **members))[0] == {"data": {"added": 1, "alreadyInCollection": 0}}
    again, text = await call("add_to_collection", **members | {"itemIds": f'["{document["id"]}"]'})
    assert (again["data"]["alreadyInCollection"], "Already in the collection: 1" in text) == (1, True)
    listed, text = await call("list_collections", search="lights")
    assert (len(listed["data"]), "(1 item)" in text) == (1, True)
    opened, text = await call("get_collection", collectionId=collection_id)
    assert opened["data"] == (await alice.client.get(f"/v1/collections/{collection_id}")).json()["data"]
    assert opened["items"] == (await alice.client.get(f"/v1/collections/{collection_id}/items")).json()["data"]
    assert "Found 1 item:" in text
    assert "\nID: forged" not in text
    bare, text = await call("get_collection", collectionId=collection_id, includeItems=False)
    assert (bare.keys(), "Found" in text) == ({"data"}, False)
    changed, _ = await call("update_collection", collectionId=collection_id, name="Lamps", expectedRevision=1)
    assert (changed["data"]["name"], changed["data"]["revision"]) == ("Lamps", 2)
    assert (await call("remove_from_collection", **members))[0] == {"data": {"removed": 1}}
    for expected in ("Its items were kept", "already deleted (no-op)"):
        gone, text = await call("delete_collection", collectionId=collection_id)
        assert (gone, expected in text) == ({"id": collection_id, "deleted": True}, True)


async def test_a_collection_with_many_items_is_opened_in_parts(alice, make):
    ids = [item["id"] for item in await asyncio.gather(*[make.document(alice.client) for _ in range(53)])]
    made = await make.collection(alice.client, items=ids)
    first = await LEGACY_ERA.call(alice.client, "get_collection", {"collectionId": made["id"]})
    found = first["structuredContent"]
    assert len(found["items"]) == 50
    cursor = found["pagination"]["cursor"]
    assert f'cursor="{cursor}"' in text_of(first)
    rest = await LEGACY_ERA.call(alice.client, "get_collection", {"collectionId": made["id"], "cursor": cursor})
    assert {item["itemId"] for item in found["items"] + rest["structuredContent"]["items"]} == set(ids)


async def test_a_collection_reads_as_a_resource(alice, make):
    document = await make.document(alice.client, title="Fog")
    made = await make.collection(alice.client, name="Lights", items=[document["id"]])
    answer = await LEGACY_ERA.send(alice.client, "resources/read", {"uri": f"contextrepo://collections/{made['id']}"})
    text = answer.json()["result"]["contents"][0]["text"]
    assert "Lights" in text
    assert document["id"] in text
