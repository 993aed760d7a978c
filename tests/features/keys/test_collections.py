"""Keys that are restricted to collections: what is no member does not exist for them, whatever they call."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio

from app.features.keys import service as keys
from app.kit.errors import NotFound
from tests.contract.requirements import proves
from tests.support.examples import example, id_fields, listed, make_id, never_issued
from tests.support.faces import KEY_FACES, RestFace, ToolFace, label
from tests.support.factories import User
from tests.support.rows import checksum

WHOLE = ("exports.", "imports.", "audit.")
"""Operations on the workspace as a whole: refused before anything is looked up."""

NARROW_FACES = [face for face in KEY_FACES if not face.operation.name.startswith(WHOLE)]
each_with_id = pytest.mark.parametrize("face", [f for f in NARROW_FACES if id_fields(f)], ids=label)
each_read = pytest.mark.parametrize("face", [f for f in NARROW_FACES if f.operation.kind == "query"], ids=label)
SECRET = "Zanzibar"
MAKERS = {"collections.create"}
"""Operations that make what can be no member of the key's collections."""


@dataclass
class Scene:
    """A collection with a document in it, secret things beside, and the restricted key's client."""

    holder: User
    collection: dict[str, Any]
    member: dict[str, Any]
    secret: dict[str, Any]
    other: dict[str, Any]

    @property
    def client(self):
        return self.holder.client


@pytest_asyncio.fixture
async def scene(alice, make):
    member = await make.document(alice.client, title="Member", content="An open text.", tags=["open"])
    secret = await make.document(alice.client, title=SECRET, content=f"{SECRET} is hidden.", tags=["hidden"])
    await make.prompt(alice.client, title=f"Ask {SECRET}", content=f"{SECRET} is hidden.", tags=["hidden"])
    collection = await make.collection(alice.client, name="Mine", items=[member["id"]])
    other = await make.collection(alice.client, name=f"About {SECRET}", items=[secret["id"], member["id"]])
    holder = await make.restricted(alice, collection["id"])
    return Scene(holder, collection, member, secret, other)


def says_absent(face, outcome):
    done = isinstance(face, ToolFace) and face.tool.when_absent is not None and "no-op" in outcome.text
    removed_nothing = face.operation.name == "collections.remove_items" and '"removed":0' in outcome.text
    return outcome.status == 404 or (outcome.status == 200 and (done or removed_nothing))


async def inside(face, make, scene, alice):
    """Valid arguments whose objects are all within the key's reach."""
    args = await example(face, make, alice)
    if "collectionId" in id_fields(face):
        args["collectionId"] = scene.collection["id"]
    if "itemId" in args:
        await alice.client.delete(f"/v1/documents/{scene.member['id']}")
        args["itemId"] = scene.member["id"]
    documents = [args["documentId"]] if "documentId" in args else list(args.get("itemIds", ()))
    if face.operation.name == "search.fetch":
        documents = [args["id"].removeprefix("document_")]
    if "chunkId" in args:
        documents = [
            (await alice.client.get(f"/v1/pd/read/{args['chunkId']}")).json()["data"]["hierarchy"]["documentId"]
        ]
    if "citationId" in args:
        documents = [(await alice.client.get(f"/v1/citations/{args['citationId']}")).json()["data"]["documentId"]]
    if "hash" in args:
        pack = (await alice.client.get(f"/v1/packs/{args['hash']}")).json()["data"]
        documents = [item["documentId"] for item in pack["documents"]]
    prompts = [args["promptId"]] if "promptId" in args else []
    for kind, ids in (("document", documents), ("prompt", prompts)):
        url, body = f"/v1/collections/{scene.collection['id']}/items", {"itemIds": ids, "itemType": kind}
        assert not ids or (await alice.client.post(url, json=body)).status_code == 200
    return args


@pytest.mark.parametrize("face", KEY_FACES, ids=label)
@proves("KEY-COLLECTIONS")
async def test_a_restricted_key_may_do_everything_with_members(face, alice, make, scene):
    outcome = await face.call(scene.client, await inside(face, make, scene, alice))
    if face.operation.name in MAKERS or face.operation.name.startswith(WHOLE):
        assert (outcome.status, outcome.reason) == (403, "INSUFFICIENT_SCOPE")
    else:
        assert outcome.status < 300, outcome.text


@each_with_id
@proves("KEY-COLLECTIONS")
async def test_what_is_no_member_answers_like_what_never_was(face, alice, make, sql, scene):
    args = await inside(face, make, scene, alice)
    outside: dict[str, Any] = {}
    for name in id_fields(face):
        outside[name] = await make_id(face, name, make, alice, outside)
    before = await checksum(sql, alice.workspace_id)
    for name in id_fields(face):
        never = never_issued(outside[name])
        hidden = await face.call(scene.client, args | {name: outside[name]})
        absent = await face.call(scene.client, args | {name: never})
        assert says_absent(face, hidden), f"{name}: {hidden.text}"
        assert hidden.without(*listed(outside[name])) == absent.without(*listed(never))
    assert await checksum(sql, alice.workspace_id) == before


@each_read
@proves("KEY-COLLECTIONS")
async def test_no_read_shows_anything_that_is_no_member(face, alice, make, scene, index):
    await index.run(alice.workspace_id)
    args = await inside(face, make, scene, alice)
    for change in ({}, {"q": SECRET}, {"query": SECRET}, {"q": SECRET, "semantic": False}, {"search": SECRET}):
        names = {field.alias or name for name, field in face.args.model_fields.items()}
        if not change.keys() <= names:
            continue
        outcome = await face.call(scene.client, args | change)
        assert outcome.status < 300, outcome.text
        own_words = outcome.text.count(SECRET) if not change else 0
        assert own_words == 0
        for hidden in (scene.secret["id"], scene.other["id"], "is hidden", f"About {SECRET}", f"Ask {SECRET}"):
            assert hidden not in outcome.text


@proves("KEY-COLLECTIONS")
async def test_lists_counts_and_search_hold_members_alone(scene):
    client = scene.client
    assert [item["id"] for item in (await client.get("/v1/documents")).json()["data"]] == [scene.member["id"]]
    assert [item["id"] for item in (await client.get("/v1/collections")).json()["data"]] == [scene.collection["id"]]
    me = (await client.get("/v1/user/me")).json()["data"]
    assert (me["usage"], me["collectionIds"]) == ({}, [scene.collection["id"]])
    found = (await client.get("/v1/search", params={"q": "hidden", "semantic": "false"})).json()
    assert (found["data"]["documents"], found["meta"]["pending"]) == ([], 2)  # the member and the collection


@proves("KEY-COLLECTIONS")
async def test_a_new_document_needs_one_of_the_keys_collections(scene, alice):
    body = {"title": "New", "content": "c"}
    nowhere = await scene.client.post("/v1/documents", json=body)
    assert (nowhere.status_code, nowhere.json()["error"]["details"][0]["field"]) == (400, "collectionId")
    foreign = await scene.client.post("/v1/documents", json=body | {"collectionId": scene.other["id"]})
    assert foreign.status_code == 404
    made = await scene.client.post("/v1/documents", json=body | {"collectionId": scene.collection["id"]})
    assert made.status_code == 201
    assert (await scene.client.get(f"/v1/documents/{made.json()['data']['id']}")).status_code == 200
    assert len((await alice.client.get("/v1/documents")).json()["data"]) == 3


@proves("KEY-COLLECTIONS")
async def test_a_restricted_key_cannot_widen_itself(scene, alice, sql):
    body = {"itemIds": [scene.secret["id"]], "itemType": "document"}
    for collection in (scene.collection, scene.other):
        answer = await scene.client.post(f"/v1/collections/{collection['id']}/items", json=body)
        assert answer.status_code == 404
    mixed = body | {"itemIds": [scene.member["id"], scene.secret["id"]]}
    answer = await scene.client.post(f"/v1/collections/{scene.collection['id']}/items", json=mixed)
    assert (answer.status_code, answer.json()["error"]["details"]["missing"]) == (404, [scene.secret["id"]])
    assert (await scene.client.get(f"/v1/documents/{scene.secret['id']}")).status_code == 404


@proves("KEY-COLLECTIONS")
async def test_what_leaves_the_collection_leaves_the_key(scene, alice):
    body = {"itemIds": [scene.member["id"]], "itemType": "document"}
    await alice.client.put(f"/v1/collections/{scene.collection['id']}/items", json=body)
    url = f"/v1/documents/{scene.member['id']}"
    assert (await scene.client.get(url)).status_code == 404
    assert (await scene.client.patch(url, json={"title": "x"})).status_code == 404
    await alice.client.post(f"/v1/collections/{scene.collection['id']}/items", json=body)
    assert (await scene.client.get(url)).status_code == 200
    await alice.client.delete(f"/v1/collections/{scene.collection['id']}")
    assert (await scene.client.get(url)).status_code == 404
    assert (await scene.client.get("/v1/documents")).json()["data"] == []


@proves("KEY-COLLECTIONS")
async def test_the_database_itself_narrows_whatever_is_asked(scene, alice, database, sql):
    mine = (uuid.UUID(scene.collection["id"]),)
    tables = ("documents", "document_tags", "document_revisions", "collections", "collection_items")
    for opened in (database.snapshot(alice.workspace_id, mine), database.tx(alice.workspace_id, "", mine)):
        async with opened as tx:
            for table in tables:
                assert await tx.fetchval(f"SELECT count(*) FROM {table}") == 1, table
            for table in ("events", "audit"):
                assert await tx.fetchval(f"SELECT count(*) FROM {table}") == 0, table
    async with database.snapshot(alice.workspace_id, ()) as tx:
        assert await tx.fetchval("SELECT count(*) FROM documents") == 0


async def test_a_transaction_that_does_not_say_what_it_may_see_sees_nothing(scene, alice, database):
    async with database.read.acquire() as connection, connection.transaction(readonly=True):
        await connection.execute(f"SET LOCAL app.workspace_id = '{alice.workspace_id}'")
        for table in ("documents", "document_revisions", "collections", "events"):
            assert await connection.fetchval(f"SELECT count(*) FROM {table}") == 0, table


@proves("KEY-COLLECTIONS")
async def test_a_person_makes_restricted_keys_and_rotation_keeps_the_restriction(scene, alice, bob, make):
    client = await make.browser(alice)
    sent = {"name": "Narrow", "scopes": ["documents.write"], "collectionIds": [scene.collection["id"]]}
    made = (await client.post("/v1/keys", json=sent)).json()["data"]
    assert made["collectionIds"] == [scene.collection["id"]]
    turned = (await client.post(f"/v1/keys/{made['id']}:rotate", json={})).json()["data"]
    assert turned["collectionIds"] == [scene.collection["id"]]
    for key in (made["key"], turned["key"]):
        listed = await make.client(key).get("/v1/documents")
        assert [item["id"] for item in listed.json()["data"]] == [scene.member["id"]]
    foreign = await make.collection(bob.client)
    for wrong, status in (([foreign["id"]], 404), (["no id"], 404), ([], 400)):
        answer = await client.post("/v1/keys", json=sent | {"collectionIds": wrong})
        assert answer.status_code == status
    assert "only in <bdi>Mine</bdi>" in (await client.get("/dashboard/keys")).text


@proves("KEY-COLLECTIONS")
async def test_the_administrator_makes_restricted_keys(scene, database, alice, bob, make):
    email, scopes = alice.email, ["documents.write"]
    chosen = [uuid.UUID(scene.collection["id"])]
    made = await keys.create_key(database, email, scopes, "narrow", collection_ids=chosen)
    listed = await make.client(made["apiKey"]).get("/v1/documents")
    assert [item["id"] for item in listed.json()["data"]] == [scene.member["id"]]
    foreign = await make.collection(bob.client)
    with pytest.raises(NotFound, match="collection"):
        await keys.create_key(database, email, scopes, "narrow", collection_ids=[uuid.UUID(foreign["id"])])
    with pytest.raises(NotFound, match="create-user"):
        await keys.create_key(database, "nobody@example.com", scopes, "narrow", collection_ids=chosen)


def test_the_attack_covers_every_face():
    assert {type(face) for face in KEY_FACES} == {RestFace, ToolFace}
    assert len(KEY_FACES) > 30
