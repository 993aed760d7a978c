"""Collections are found through what they hold."""

from __future__ import annotations

import pytest
import pytest_asyncio

from app.gate.policy import Scope
from tests.contract.requirements import proves
from tests.edge.mcp.wire import LEGACY_ERA, text_of

BOTH_MODES = pytest.mark.parametrize("semantic", ["true", "false"])


@pytest_asyncio.fixture
async def box(alice, make, index):
    cake = await make.document(
        alice.client, title="Cake", content="Flour, eggs and butter are beaten together.", tags=["food"]
    )
    prompt = await make.prompt(alice.client, title="Bake", content="How long do eggs and flour bake?")
    boat = await make.document(
        alice.client,
        title="Clock",
        content="The old tower clock strikes a quarter of an hour too late, as everybody in the town knows.",
    )
    found = await make.collection(alice.client, name="Zebra box", description="qqq", items=[cake["id"], boat["id"]])
    await alice.client.post(
        f"/v1/collections/{found['id']}/items", json={"itemIds": [prompt["id"]], "itemType": "prompt"}
    )
    await make.collection(
        alice.client, name="Timepieces", description="What tells the hour in towns and villages.", items=[boat["id"]]
    )
    await index.run(alice.workspace_id)
    return found["id"], cake["id"], prompt["id"]


async def collections(client, **params):
    answer = await client.get("/v1/search", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]["collections"]


@proves("SEARCH-MEMBERS")
@BOTH_MODES
async def test_a_collection_is_found_through_its_members_and_names_them(semantic, alice, box):
    (hit,) = await collections(alice.client, q="eggs", type="collections", semantic=semantic)
    assert (hit["collectionId"], hit["name"], hit["description"]) == (box[0], "Zebra box", "qqq")
    assert {(item["type"], item["id"], item["title"]) for item in hit["matchedItems"]} == {
        ("document", box[1], "Cake"),
        ("prompt", box[2], "Bake"),
    }
    if semantic == "true":
        assert hit["score"] == hit["matchedItems"][0]["score"] >= hit["matchedItems"][1]["score"]
    else:
        assert "score" not in hit
        assert not any("score" in item for item in hit["matchedItems"])


@proves("SEARCH-MEMBERS")
@BOTH_MODES
async def test_only_members_that_the_credential_may_read_tell_of_a_collection(semantic, alice, bob, box, make):
    key = await make.key(alice, scopes=[Scope.DOCUMENTS_READ.value])
    (hit,) = await collections(make.client(key), q="eggs", semantic=semantic)
    assert [item["title"] for item in hit["matchedItems"]] == ["Cake"]
    assert await collections(bob.client, q="eggs", semantic=semantic) == []
    assert await collections(alice.client, q="eggs", semantic=semantic, tags="food") == []


@proves("SEARCH-MEMBERS")
async def test_the_tool_names_the_members(alice, box, make):
    result = await LEGACY_ERA.call(alice.client, "find_items", {"query": "eggs", "type": "collections"})
    held = {line.strip() for line in text_of(result).splitlines() if "Holds" in line}
    assert held == {f"Holds: Cake (document {box[1]})", f"Holds: Bake (prompt {box[2]})"}
