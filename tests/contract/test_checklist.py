"""The checklist of the contract (section 10), where no other test stands for a line, and filters among thousands."""

from __future__ import annotations

import pytest

from tests.contract.requirements import proves
from tests.edge.mcp.wire import LEGACY_ERA, MODERN_ERA
from tests.support.beliefs import BELIEFS, believe
from tests.support.factories import Make
from tests.support.indexing import Index, Recording
from tests.support.service import serving

OPERATIONS = """
GET /v1/prompts
POST /v1/prompts
GET /v1/prompts/{promptId}
PATCH /v1/prompts/{promptId}
DELETE /v1/prompts/{promptId}
GET /v1/prompts/{promptId}/versions
POST /v1/prompts/{promptId}/restore
GET /v1/documents
POST /v1/documents
GET /v1/documents/{documentId}
PATCH /v1/documents/{documentId}
DELETE /v1/documents/{documentId}
GET /v1/documents/{documentId}/versions
POST /v1/documents/{documentId}/restore
POST /v1/documents/scrape
POST /v1/documents/{documentId}/refresh
GET /v1/documents/{documentId}/coordination
PUT /v1/documents/{documentId}/coordination
DELETE /v1/documents/{documentId}/coordination
POST /v1/documents/{documentId}/coordination/lease
GET /v1/collections
POST /v1/collections
GET /v1/collections/{collectionId}
PATCH /v1/collections/{collectionId}
DELETE /v1/collections/{collectionId}
GET /v1/collections/{collectionId}/items
POST /v1/collections/{collectionId}/items
PUT /v1/collections/{collectionId}/items
GET /v1/search
POST /v1/pd/session
POST /v1/pd/search
POST /v1/pd/expand
GET /v1/pd/read/{chunkId}
POST /v1/reason
GET /v1/user/me
"""


@proves("CHECK-2", "OPENAPI-CORE")
async def test_the_description_holds_exactly_the_35_operations_and_each_wants_a_credential(http):
    core = OPERATIONS.split("\n")[1:-1]
    served = (await http.get("/openapi.json")).json()["paths"]
    assert len(core) == 35
    assert sorted(f"{method.upper()} {path}" for path, item in served.items() for method in item) == sorted(core)
    for operation in core:
        method, path = operation.split()
        answer = await http.request(method, path)
        assert (answer.status_code, answer.json()["error"]["reason"]) == (401, "UNAUTHENTICATED"), operation
        assert "resource_metadata=" in answer.headers["www-authenticate"]


@proves("CHECK-8")
async def test_101_prompts_are_100_and_1_over_both_wires(alice, make):
    made = {(await make.prompt(alice.client, title=f"T{number}"))["id"] for number in range(101)}
    first = (await alice.client.get("/v1/prompts?limit=100")).json()
    rest = (
        await alice.client.get("/v1/prompts", params={"limit": 100, "cursor": first["pagination"]["cursor"]})
    ).json()
    assert [(len(page["data"]), page["pagination"]["hasMore"]) for page in (first, rest)] == [(100, True), (1, False)]
    native = (await LEGACY_ERA.send(alice.client, "prompts/list")).json()["result"]
    last = (await LEGACY_ERA.send(alice.client, "prompts/list", {"cursor": native["nextCursor"]})).json()["result"]
    assert (len(native["prompts"]), len(last["prompts"]), "nextCursor" in last) == (100, 1, False)
    assert {item["name"] for item in native["prompts"] + last["prompts"]} == made


@pytest.fixture
async def hosted(settings, database):
    """A second service, so that its plans are read anew for users of a hosted plan."""
    async with serving(settings) as app:
        yield Make(app, database)


@proves("CHECK-11")
async def test_the_eleventh_page_in_a_minute_is_refused_whatever_key_asks(make, hosted):
    user = await make.user()
    await make.plan(user, "Ultimate")
    clients = [hosted.client(await make.key(user)) for _ in range(3)]
    for number in range(10):
        answer = await clients[number % 3].post("/v1/documents/scrape", json={"url": "http://127.0.0.1:1/x"})
        assert answer.status_code not in {402, 429}, answer.text
    for client in clients:
        refused = await client.post("/v1/documents/scrape", json={"url": "http://127.0.0.1:1/x"})
        assert (refused.status_code, refused.json()["error"]["reason"]) == (429, "RATE_LIMITED")
        assert 1 <= int(refused.headers["retry-after"]) <= 60
        assert (await client.get("/v1/user/me")).status_code == 200


@proves("CHECK-10")
async def test_a_lapsed_plan_refuses_everything_but_who_one_is(make, http):
    user = await make.user()
    await make.plan(user, "trial", lapsed=True)
    client = make.client(await make.key(user))
    for operation in OPERATIONS.split("\n")[1:-1]:
        method, path = operation.split()
        answer = await client.request(method, path)
        if path == "/v1/user/me":
            assert answer.status_code == 200
        else:
            assert (answer.status_code, answer.json()["error"]["reason"]) == (402, "PLAN_REQUIRED"), operation
    for tool in (await MODERN_ERA.send(http, "tools/list")).json()["result"]["tools"]:
        result = await MODERN_ERA.call(client, tool["name"])
        found = result["structuredContent"].get("error", {}).get("reason")
        assert found == (None if tool["name"] == "get_user_info" else "PLAN_REQUIRED"), tool["name"]


# Copies of a document with all that the index keeps of it; the vectors are shared by their text.
COPIES = 10_000
_MANY = "CROSS JOIN generate_series(1, $3::int) AS n"
_ID = "md5({0}::text || n)::uuid"
COPY = [
    f"""
    INSERT INTO documents SELECT (jsonb_populate_record(d, jsonb_build_object('id', {_ID.format("d.id")}))).*
      FROM documents d {_MANY} WHERE d.workspace_id = $1 AND d.id = $2""",
    f"""
    INSERT INTO chunks SELECT (jsonb_populate_record(c, jsonb_build_object('id', {_ID.format("c.id")},
           'document_id', {_ID.format("c.document_id")}, 'parent_id', {_ID.format("c.parent_id")}))).*
      FROM chunks c {_MANY} WHERE c.workspace_id = $1 AND c.document_id = $2""",
    f"""
    INSERT INTO postings SELECT (jsonb_populate_record(p, jsonb_build_object('chunk_id', {_ID.format("p.chunk_id")}))).*
      FROM postings p JOIN chunks c ON c.workspace_id = p.workspace_id AND c.id = p.chunk_id {_MANY}
     WHERE p.workspace_id = $1 AND c.document_id = $2""",
    """
    UPDATE index_statistics SET chunks = chunks * $3::int, length = length * $3::int
     WHERE workspace_id = $1 AND $2::uuid IS NOT NULL""",
]


@pytest.mark.prove
@proves("CHECK-9", "FILTER-FIRST")
async def test_filters_come_before_candidates_among_ten_thousand_better_ones(alice, make, database, sql):
    client, model = alice.client, Recording()
    loud = await make.document(client, title="Lighthouse", content="The lighthouse keeper trims the lamp at night.")
    quiet = await make.document(
        client, title="Old man", content="Somebody had once been a keeper, long ago.", tags=["rare"]
    )
    kept = await make.collection(client, name="Few", items=[quiet["id"]])
    await Index(database, sql, model).run(alice.workspace_id)
    await model.close()
    for statement in COPY:
        await sql.execute(statement, alice.workspace_id, loud["id"], COPIES)
    assert await sql.fetchval("SELECT count(*) FROM documents WHERE workspace_id = $1", alice.workspace_id) > COPIES
    query = "lighthouse keeper lamp"
    answer = await client.post("/v1/pd/search", json={"query": query, "limit": 50})
    assert answer.status_code == 200, answer.text
    everywhere = answer.json()["data"]["results"]
    assert quiet["id"] not in {hit["documentId"] for hit in everywhere}
    for belief in BELIEFS:
        await believe(sql, belief, "^(documents|document_tags|chunks|postings|vectors|index_statistics)")
        assert (await client.post("/v1/pd/search", json={"query": query})).status_code == 200, belief
        assert (await client.get("/v1/search", params={"q": query})).status_code == 200, belief
    for scope in ({"collectionId": kept["id"]}, {"documentId": quiet["id"]}):
        found = (await client.post("/v1/pd/search", json={"query": query, **scope})).json()["data"]["results"]
        assert {hit["documentId"] for hit in found} == {quiet["id"]}
        answer = (await client.post("/v1/reason", json={"query": "Who was a keeper?", **scope})).json()["data"]
        assert {item["documentId"] for item in answer["citations"]} <= {quiet["id"]}
    for semantic in ("true", "false"):
        wanted = {"q": "keeper", "tags": "rare", "type": "documents", "semantic": semantic}
        hits = (await client.get("/v1/search", params=wanted)).json()["data"]["documents"]
        assert [hit["documentId"] for hit in hits] == [quiet["id"]]
    narrow = await make.restricted(alice, kept["id"])
    hits = (await narrow.client.get("/v1/search", params={"q": "keeper"})).json()["data"]["documents"]
    assert [hit["documentId"] for hit in hits] == [quiet["id"]]
    for narrowing in ({"tags": "rare"}, {"collectionId": kept["id"]}, {"search": "Old man"}):
        page = (await client.get("/v1/documents", params=narrowing)).json()
        assert [item["id"] for item in page["data"]] == [quiet["id"]]
