"""The 29 tools: their table, their hints, what their descriptions teach, and each against the REST call behind it."""

from __future__ import annotations

import json
import re

import pytest

from app import features
from app.edge.mcp.rpc import INVALID_PARAMS
from tests.contract.requirements import proves
from tests.edge.mcp.wire import LEGACY_ERA, MODERN_ERA, text_of

P, D = "prompts.", "documents."
READ, ANY = (f"{P}read", f"{D}read"), ()
# name, required, optional, scopes; the order is the contract's
TOOLS = [
    ("get_user_info", "", "", ANY),
    ("search_prompts", "", "search limit tags cursor", (f"{P}read",)),
    ("read_prompt", "promptId", "", (f"{P}read",)),
    ("create_prompt", "title description content", "tags", (f"{P}write",)),
    ("update_prompt", "promptId", "title description content changeLog tags expectedRevision", (f"{P}write",)),
    ("delete_prompt", "promptId", "expectedRevision", (f"{P}write",)),
    ("get_prompt_versions", "promptId", "cursor", (f"{P}read",)),
    ("restore_prompt_version", "promptId versionId", "expectedRevision", (f"{P}write",)),
    ("list_documents", "", "collectionId search limit tags cursor", (f"{D}read",)),
    ("get_document", "documentId", "asOf", (f"{D}read",)),
    ("create_document", "title content", "tags", (f"{D}write",)),
    ("update_document", "documentId expectedRevision", "title content changeLog tags edits", (f"{D}write",)),
    ("delete_document", "documentId", "expectedRevision", (f"{D}write",)),
    ("get_document_versions", "documentId", "cursor", (f"{D}read",)),
    ("restore_document_version", "documentId versionId expectedRevision", "", (f"{D}write",)),
    ("list_collections", "", "search limit tags cursor", (f"{D}read",)),
    ("get_collection", "collectionId", "includeItems", (f"{D}read",)),
    ("create_collection", "name", "description color icon tags", (f"{D}write",)),
    ("update_collection", "collectionId", "name description color icon tags expectedRevision", (f"{D}write",)),
    ("delete_collection", "collectionId", "expectedRevision", (f"{D}write",)),
    ("add_to_collection", "collectionId itemIds itemType", "expectedRevision", (f"{D}write",)),
    ("remove_from_collection", "collectionId itemIds itemType", "expectedRevision", (f"{D}write",)),
    ("find_items", "query", "type semantic tags asOf", READ),
    ("deep_search", "query", "limit sessionId collectionId documentId", (f"{D}read",)),
    ("deep_read", "chunkId", "", (f"{D}read",)),
    ("deep_expand", "chunkId direction", "count", (f"{D}read",)),
    ("reason", "query", "limit documentId collectionId", (f"{D}read",)),
    ("search", "query", "", READ),
    ("fetch", "id", "", READ),
]
READS = {1, 2, 3, 7, 9, 10, 14, 16, 17, *range(23, 30)}
CREATES, UPDATES, MEMBERS = {4, 11, 18}, {5, 19}, {21, 22}
REPLACES, DELETES = {8, 12, 15}, {6, 13, 20}


async def listed(client, path="/mcp"):
    return (await MODERN_ERA.send(client, "tools/list", path=path)).json()["result"]["tools"]


@proves("TOOL-NAMES", "CHECK-1")
async def test_anybody_lists_exactly_these_tools_in_this_order(http):
    assert [tool["name"] for tool in await listed(http)] == [name for name, *_ in TOOLS]


@proves("TOOL-PARAMETERS")
async def test_each_tool_takes_its_parameters(http):
    for tool, (name, required, optional, _) in zip(await listed(http), TOOLS, strict=True):
        schema = tool["inputSchema"]
        assert set(schema.get("required", ())) == set(required.split()), name
        assert set(required.split() + optional.split()) <= schema["properties"].keys(), name
        assert "lease" not in json.dumps([*schema["properties"]]).lower(), name


@proves("TOOL-SCOPES")
async def test_each_tool_needs_its_scope(alice, make):
    told = (await alice.client.get("/v1/mcp/capabilities")).json()["tools"]
    assert {tool["name"]: tuple(tool["scopes"]) for tool in told} == {name: scopes for name, *_, scopes in TOOLS}
    for only in (f"{P}read", f"{D}read"):
        client = make.client(await make.key(alice, scopes=(only,)))
        for name, _, _, scopes in TOOLS:
            result = await LEGACY_ERA.call(client, name, {"query": "x"} if name in {"find_items", "search"} else {})
            reason = result["structuredContent"].get("error", {}).get("reason")
            assert (reason == "INSUFFICIENT_SCOPE") is (bool(scopes) and only not in scopes), (only, name)


@proves("TOOL-HINTS")
async def test_each_tool_carries_its_hints(http):
    for number, tool in enumerate(await listed(http), 1):
        hints = tool["annotations"]
        assert hints["readOnlyHint"] is (number in READS), tool["name"]
        assert hints["destructiveHint"] is (number in UPDATES | REPLACES | DELETES), tool["name"]
        assert hints["idempotentHint"] is (number in READS | UPDATES | MEMBERS | DELETES), tool["name"]
        assert hints["openWorldHint"] is False
        assert tool["title"]
    assert set(range(1, 30)) == READS | CREATES | UPDATES | MEMBERS | REPLACES | DELETES


# What a description must teach, by word: where to go from here, and what is elsewhere.
TEACHES = {
    "search_prompts": "literal .*read_prompt",
    "find_items": "prompts, documents and collections.*literally.*get_document, read_prompt or get_collection",
    "deep_search": "passages .*find_items tells which item; prompts are not here.*deep_read or deep_expand",
    "deep_read": "section path, neighbours",
    "deep_expand": "around",
    "reason": "not prompts",
    "read_prompt": "before you use or change it",
    "get_document": "before update_document",
    "update_document": "read first",
    "update_prompt": "read first",
    "restore_document_version": "current revision, not the old one",
    "delete_document": "Only on the user's clear wish; read it first",
    "delete_prompt": "Only on the user's clear wish; read it first",
    "delete_collection": "items in it are kept. Only on the user's clear wish",
    "create_document": "when the user wants",
    "create_prompt": "when the user wants",
    "create_collection": "when the user wants",
    "remove_from_collection": "the items themselves are kept",
    "search": "fetch",
    "fetch": "search",
}


@proves("TOOL-ROUTING")
async def test_descriptions_lead_to_the_right_tool(http):
    described = {tool["name"]: tool["description"] for tool in await listed(http)}
    for name, pattern in TEACHES.items():
        assert re.search(pattern, described[name]), name
    request = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    instructions = (await LEGACY_ERA.send(http, "initialize", request)).json()["result"]["instructions"]
    for pattern in ("which item", "which passage", "Read a document before you change it", "only what the user wants"):
        assert pattern in instructions


async def test_the_inventory_has_a_face_for_every_tool():
    names = [tool.name for tool in features.collect("tools", "TOOLS") if not tool.wide]
    assert sorted(names) == sorted(name for name, *_ in TOOLS)


async def same(client, tool, arguments, method, path, **sent):
    """Call a tool and its REST twin, which must say the same; gives what they say."""
    result = await MODERN_ERA.call(client, tool, arguments)
    twin = await client.request(method, path, **sent)
    assert twin.is_success, twin.text
    found, expected = result["structuredContent"], twin.json()
    for body in (found, expected):  # what differs between two calls by its nature
        for place in (body, body.get("data"), body.get("meta")):
            if isinstance(place, dict):
                place.pop("sessionId", None), place.pop("latencyMs", None)
                place.get("meta", {}).pop("sessionId", None), place.get("meta", {}).pop("latencyMs", None)
    assert found == expected, tool
    assert text_of(result)
    return found


@proves("CHECK-4", "MCP-STRUCTURED")
async def test_every_reading_tool_answers_the_body_of_rest(alice, make):
    client = alice.client
    prompt = await make.prompt(client, title="Ask about herons", content="Which ${bird}?")
    made = await make.document(client, title="Herons", content="# Birds\n\nHerons wade.\n\n## More\n\nThey fish.")
    kept = await make.collection(client, name="Heron things", items=[made["id"]])
    await make.indexed(alice)
    p, d, c = f"/v1/prompts/{prompt['id']}", f"/v1/documents/{made['id']}", f"/v1/collections/{kept['id']}"
    await same(client, "get_user_info", {}, "GET", "/v1/user/me")
    await same(client, "search_prompts", {"search": "bird"}, "GET", "/v1/prompts?q=bird")
    await same(client, "read_prompt", {"promptId": prompt["id"]}, "GET", p)
    await same(client, "get_prompt_versions", {"promptId": prompt["id"]}, "GET", f"{p}/versions")
    await same(client, "list_documents", {"search": "Her"}, "GET", "/v1/documents?search=Her")
    await same(client, "get_document", {"documentId": made["id"]}, "GET", d)
    await same(client, "get_document_versions", {"documentId": made["id"]}, "GET", f"{d}/versions")
    await same(client, "list_collections", {}, "GET", "/v1/collections")
    await same(client, "find_items", {"query": "herons"}, "GET", "/v1/search?q=herons")
    await same(client, "find_items", {"query": "wade", "semantic": False}, "GET", "/v1/search?q=wade&semantic=false")
    found = await same(client, "deep_search", {"query": "wade"}, "POST", "/v1/pd/search", json={"query": "wade"})
    chunk = found["data"]["results"][0]["chunkId"]
    await same(client, "deep_read", {"chunkId": chunk}, "GET", f"/v1/pd/read/{chunk}")
    ask = {"chunkId": chunk, "direction": "surrounding"}
    await same(client, "deep_expand", ask, "POST", "/v1/pd/expand", json=ask)
    await same(
        client, "reason", {"query": "What do herons do?"}, "POST", "/v1/reason", json={"query": "What do herons do?"}
    )
    whole = await MODERN_ERA.call(client, "get_collection", {"collectionId": kept["id"]})
    items = (await client.get(f"{c}/items?limit=50")).json()
    assert whole["structuredContent"]["data"] == (await client.get(c)).json()["data"]
    assert whole["structuredContent"]["items"] == items["data"]
    bare = await MODERN_ERA.call(client, "get_collection", {"collectionId": kept["id"], "includeItems": False})
    assert "items" not in bare["structuredContent"]


@proves("COL-TOOL-50")
async def test_a_collection_shows_fifty_items_and_says_that_there_are_more(alice, make):
    made = [(await make.document(alice.client, title=f"T{number}"))["id"] for number in range(51)]
    kept = await make.collection(alice.client, items=made)
    result = await MODERN_ERA.call(alice.client, "get_collection", {"collectionId": kept["id"]})
    shown = [item["itemId"] for item in result["structuredContent"]["items"]]
    listed = (await alice.client.get(f"/v1/collections/{kept['id']}/items?limit=100")).json()["data"]
    assert (len(shown), len(listed)) == (50, 51)
    assert shown == [item["itemId"] for item in listed[:50]]
    cursor = re.search(r'get_collection again with cursor="([^"]+)"', text_of(result))[1]
    rest = await MODERN_ERA.call(alice.client, "get_collection", {"collectionId": kept["id"], "cursor": cursor})
    assert [item["itemId"] for item in rest["structuredContent"]["items"]] == [listed[50]["itemId"]]


@proves("CHECK-4")
async def test_every_writing_tool_answers_the_body_of_rest(alice):
    client = alice.client

    async def call(tool, **arguments):
        result = await MODERN_ERA.call(client, tool, arguments)
        assert not result.get("isError"), text_of(result)
        return result["structuredContent"]

    async def rest(method, path, **body):
        answer = await client.request(method, path, json=body or None)
        assert answer.is_success, answer.text
        return answer.json()

    prompt = (await call("create_prompt", title="P", description="d", content="one ${x}", engine="ignored"))["data"]
    assert prompt == (await rest("GET", f"/v1/prompts/{prompt['id']}"))["data"]
    changed = (await call("update_prompt", promptId=prompt["id"], content="two"))["data"]
    assert changed | {"noop": True} == (await rest("PATCH", f"/v1/prompts/{prompt['id']}", content="two"))["data"]
    back = await call("restore_prompt_version", promptId=prompt["id"], versionId=prompt["versionId"])
    assert back["data"].keys() >= {"id", "title", "currentVersion"}
    made = (await call("create_document", title="D", content="one"))["data"]
    place = f"/v1/documents/{made['id']}"
    assert made["status"] == "pending"
    assert made.keys() == (await rest("GET", place))["data"].keys()
    ack = (await call("update_document", documentId=made["id"], expectedRevision=1, content="two"))["data"]
    assert "content" not in ack
    assert ack | {"noop": True} == (await rest("PATCH", place, content="two", expectedRevision=2))["data"]
    first = (await rest("GET", f"{place}/versions"))["data"][-1]["id"]
    old = (await call("restore_document_version", documentId=made["id"], versionId=first, expectedRevision="2"))["data"]
    again = await rest("POST", f"{place}/restore", versionId=first, expectedRevision=3)
    assert old | {"noop": True} == again["data"]
    kept = (await call("create_collection", name="C"))["data"]
    assert (kept["itemCount"], kept["icon"]) == (0, "\N{FILE FOLDER}")
    assert kept == (await rest("GET", f"/v1/collections/{kept['id']}"))["data"]
    both = {"collectionId": kept["id"], "itemIds": [made["id"]], "itemType": "document"}
    assert (await call("add_to_collection", **both))["data"] == {"added": 1, "alreadyInCollection": 0}
    assert (await call("add_to_collection", **both))["data"] == {"added": 0, "alreadyInCollection": 1}
    assert (await call("remove_from_collection", **both))["data"] == {"removed": 1}
    named = (await call("update_collection", collectionId=kept["id"], name="New"))["data"]
    assert named | {"noop": True} == (await rest("PATCH", f"/v1/collections/{kept['id']}", name="New"))["data"]
    for kind, item in (("prompt", prompt["id"]), ("document", made["id"]), ("collection", kept["id"])):
        for _ in range(2):
            gone = await call(f"delete_{kind}", **{f"{kind}Id": item})
            assert gone == {"id": item, "deleted": True}


@proves("APP-SEARCH-FETCH")
async def test_search_and_fetch_are_once_json_and_once_structured(alice, make):
    await make.prompt(alice.client, title="Heron prompt", description="About herons", content="Which ${bird}?")
    made = await make.document(alice.client, title="Heron text", content="Herons wade.")
    await make.collection(alice.client, name="Heron things", description="Birds", items=[made["id"]])
    await make.indexed(alice)
    found = await MODERN_ERA.call(alice.client, "search", {"query": "herons"})
    assert json.loads(text_of(found)) == found["structuredContent"]
    kinds = set()
    for hit in found["structuredContent"]["results"]:
        assert hit.keys() == {"id", "title", "url"}
        kind, _, item = hit["id"].partition("_")
        assert hit["url"].endswith(f"/dashboard/{kind}s/{item}")
        one = await MODERN_ERA.call(alice.client, "fetch", {"id": hit["id"]})
        assert json.loads(text_of(one)) == one["structuredContent"]
        body = one["structuredContent"]
        assert body.keys() == {"id", "title", "text", "url", "metadata"}
        assert (body["id"], body["title"], body["url"]) == (hit["id"], hit["title"], hit["url"])
        assert body["metadata"]["type"] == kind
        kinds.add(kind)
    assert kinds == {"prompt", "document", "collection"}


@pytest.mark.parametrize(
    "old", ["list_prompts", "get_prompt", "search_context_repo", "pd_search", "pd_read", "pd_expand"]
)
@proves("MCP-OLD-NAMES")
async def test_old_names_are_taken_and_not_listed(old, alice, http):
    assert old not in {tool["name"] for tool in await listed(http)}
    answer = (await LEGACY_ERA.send(alice.client, "tools/call", {"name": old, "arguments": {}})).json()
    assert answer.get("error", {}).get("code") != INVALID_PARAMS
