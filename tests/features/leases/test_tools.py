"""Leases and idempotency keys over MCP: the surface with every tool, and what the others go on refusing."""

from __future__ import annotations

from uuid import uuid4

import pytest

from tests.contract.requirements import proves
from tests.edge.mcp.wire import BOTH, LEGACY_ERA, MODERN_ERA

ALL = "/mcp/all"


async def call(client, name, arguments, path=ALL, era=MODERN_ERA):
    answer = await era.send(client, "tools/call", {"name": name, "arguments": arguments}, path=path)
    return answer.json()["result"]["structuredContent"]


def key():
    return {"idempotencyKey": uuid4().hex}


@pytest.fixture
async def managed(alice, make):
    made = await make.document(alice.client, content="one")
    url = f"/v1/documents/{made['id']}/coordination"
    await alice.client.put(url, json={"policy": "lease_required"}, headers={"If-Match": made["etag"]})
    return {"documentId": made["id"]}


async def acquired(client, managed, **more):
    found = await call(client, "acquire_lease", managed | key() | more)
    return {"leaseId": found["data"]["leaseId"], "leaseFence": found["data"]["fence"]}


@pytest.mark.parametrize("era", BOTH)
@proves("MCP-ALL-LEASE")
async def test_a_client_acquires_writes_renews_and_releases(alice, managed, era):
    async def ask(name, arguments):
        return await call(alice.client, name, managed | key() | arguments, era=era)

    taken = (await ask("acquire_lease", {"ttlSeconds": 30}))["data"]
    lease = {"leaseId": taken["leaseId"], "leaseFence": taken["fence"]}
    written = await ask("update_document", {"content": "two", "expectedRevision": 1} | lease)
    assert written["data"]["revision"] == 2
    edited = await ask("update_document", {"edits": [{"op": "insert", "text": "!"}], "expectedRevision": 2} | lease)
    assert edited["data"]["revision"] == 3
    assert (await ask("renew_lease", lease))["data"]["ttlSeconds"] == 30
    versions = (await alice.client.get(f"/v1/documents/{managed['documentId']}/versions")).json()["data"]
    back = {"versionId": versions[-1]["id"], "expectedRevision": 3}
    assert (await ask("restore_document_version", back | lease))["data"]["revision"] == 4
    assert (await ask("release_lease", lease))["data"]["state"] == "released"
    late = await ask("update_document", {"content": "three", "expectedRevision": 4} | lease)
    assert late["error"]["reason"] == "LEASE_LOST"


@proves("MCP-ALL-LEASE")
async def test_a_managed_document_is_deleted_by_its_holder_alone(alice, managed):
    assert (await call(alice.client, "delete_document", managed))["error"]["reason"] == "LEASE_REQUIRED"
    lease = await acquired(alice.client, managed)
    assert (await call(alice.client, "delete_document", managed | lease))["deleted"] is True


async def test_a_second_writer_is_told_to_wait(alice, managed):
    await acquired(alice.client, managed)
    assert (await call(alice.client, "acquire_lease", managed | key()))["error"]["reason"] == "LEASE_HELD"


async def test_lease_tools_need_a_key_and_a_lease_both_its_parts(alice, managed):
    assert (await call(alice.client, "acquire_lease", managed))["error"]["reason"] == "PRECONDITION_REQUIRED"
    half = managed | key() | {"leaseId": "lse_x", "content": "x", "expectedRevision": 1}
    assert (await call(alice.client, "update_document", half))["error"]["code"] == 400
    assert (await call(alice.client, "renew_lease", managed | key()))["error"]["code"] == 400


@pytest.mark.parametrize("path", ["/mcp", "/grok-mcp"])
@proves("MCP-ALL-ONLY")
async def test_the_other_surfaces_refuse_managed_writes_and_take_no_lease(alice, managed, path):
    lease = await acquired(alice.client, managed)
    change = managed | {"content": "two", "expectedRevision": 1}
    refused = await call(alice.client, "update_document", change, path)
    assert refused["error"]["reason"] == "LEASE_REQUIRED"
    assert "/mcp/all" in refused["error"]["message"]
    assert (await call(alice.client, "update_document", change | lease, path))["error"]["code"] == 400
    assert (await call(alice.client, "update_document", change | key(), path))["error"]["code"] == 400
    unknown = await LEGACY_ERA.send(alice.client, "tools/call", {"name": "acquire_lease", "arguments": {}}, path=path)
    assert unknown.json()["error"]["message"] == "Unknown tool: acquire_lease"


@proves("MCP-ALL-KEY")
async def test_a_write_with_a_key_is_made_once(alice):
    sent = {"title": "T", "content": "c"} | key()
    first, again = [await call(alice.client, "create_document", sent) for _ in range(2)]
    assert first == again
    other = await call(alice.client, "create_document", sent | {"content": "other"})
    assert other["error"]["reason"] == "IDEMPOTENCY_KEY_REUSED"


@pytest.mark.parametrize("value", [1, "", "a\u0000", "x" * 256, ["k"]])
async def test_a_key_that_is_none_is_refused(alice, value):
    sent = {"title": "T", "content": "c", "idempotencyKey": value}
    assert (await call(alice.client, "create_document", sent))["error"]["code"] == 400


@proves("MCP-ALL")
async def test_the_surface_has_every_tool_once_and_asks_for_a_credential_first(http, alice):
    refused = await LEGACY_ERA.send(http, "tools/list", path=ALL)
    assert refused.status_code == 401
    assert "/.well-known/oauth-protected-resource/mcp/all" in refused.headers["www-authenticate"]
    known, found = [
        (await MODERN_ERA.send(alice.client, "tools/list", path=path)).json()["result"]["tools"]
        for path in ("/mcp", ALL)
    ]
    names = [tool["name"] for tool in found]
    more = {"acquire_lease", "renew_lease", "release_lease", "get_document_diff"}
    assert len(names) == len(set(names))
    assert set(names) >= {tool["name"] for tool in known} | more
    assert more.isdisjoint(tool["name"] for tool in known)
    for tool in found:
        takes = "idempotencyKey" in tool["inputSchema"]["properties"]
        assert takes is not tool["annotations"]["readOnlyHint"], tool["name"]
    assert all("idempotencyKey" not in tool["inputSchema"]["properties"] for tool in known)


async def test_the_metadata_names_the_surface(http):
    found = (await http.get("/.well-known/oauth-protected-resource/mcp/all")).json()
    assert found["resource"].endswith("/mcp/all")


@proves("DOC-DIFF")
async def test_the_diff_tool_shows_changed_lines(alice, make):
    made = await make.document(alice.client, content="one\n")
    await alice.client.patch(f"/v1/documents/{made['id']}", json={"content": "two\n"})
    found = await call(alice.client, "get_document_diff", {"documentId": made["id"], "from": 1})
    assert found["data"]["unified"] == "@@ -1 +1 @@\n-one\n+two\n"
