"""What is refused before the SDK sees it, and how."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from uuid import UUID

import pytest

from app.edge.mcp import guard
from app.gate.gate import Credential
from app.gate.policy import Limit, Scope
from app.gate.ports import Cached
from app.gate.principal import CredentialKind, Principal
from tests.contract.requirements import proves
from tests.edge.mcp import wire
from tests.edge.mcp.wire import LEGACY_ERA, MODERN_ERA, Era, raw
from tests.support.service import client_of

PING = b'{"jsonrpc":"2.0","id":7,"method":"ping"}'
METADATA = "http://service.test/.well-known/oauth-protected-resource"
ALL = " ".join(scope.value for scope in Scope)
PUBLIC = ["tools/list", "resources/list", "resources/templates/list"]
HANDSHAKE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
CHALLENGE = {
    "tools/call": {"name": "get_user_info", "arguments": {}},
    "prompts/list": {},
    "prompts/get": {"name": "x"},
    "resources/read": {"uri": "contextrepo://documents/1"},
}


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "PUT"])
@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/grok-mcp"])
async def test_only_post_is_taken(http, method, path):
    answer = await http.request(method, path, headers={"accept": "text/event-stream"})
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST, OPTIONS")


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://service.test.evil.example"])
async def test_a_hostile_origin_is_refused_and_never_challenged(http, alice, origin):
    for client in (http, alice.client):
        answer = await raw(client, PING, origin=origin, path="/grok-mcp")
        assert answer.status_code == 403
        assert "www-authenticate" not in answer.headers


@pytest.mark.parametrize("origin", ["http://service.test", "http://localhost:6274", "http://127.0.0.1:1"])
async def test_our_own_and_loopback_origins_pass(http, origin):
    assert (await raw(http, PING, origin=origin)).status_code == 200


async def test_a_foreign_host_is_misdirected(http):
    assert (await raw(http, PING, host="rebound.example:8000")).status_code == 421
    assert (await raw(http, PING, host="localhost:8000")).status_code == 200


@proves("AUTH-PUBLIC")
@pytest.mark.parametrize("method", PUBLIC)
async def test_public_methods_need_no_credential(http, era, method):
    assert (await era.send(http, method)).status_code == 200


@proves("AUTH-PUBLIC")
async def test_the_handshake_needs_no_credential(http):
    assert (await LEGACY_ERA.send(http, "initialize", HANDSHAKE)).json()["result"]["serverInfo"]["name"]
    assert (await LEGACY_ERA.send(http, "ping")).json()["result"] == {}
    answer = await raw(http, b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    assert (answer.status_code, answer.content) == (202, b"")


@proves("MCP-CHALLENGE")
@pytest.mark.parametrize("method", CHALLENGE)
async def test_protected_methods_are_challenged_without_an_error_code(http, era, method):
    answer = await era.send(http, method, CHALLENGE[method], message_id="m-1")
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == f'Bearer scope="{ALL}", resource_metadata="{METADATA}/mcp"'
    assert answer.headers["cache-control"] == "no-store"
    body = answer.json()
    assert (body["jsonrpc"], body["id"]) == ("2.0", "m-1")
    assert body["error"]["data"]["reason"] == "UNAUTHENTICATED"


@pytest.mark.parametrize("credential", ["API-Key gm_no_such", "Bearer x", "Basic eDp5"])
async def test_a_bad_credential_is_refused_even_where_none_is_needed(http, era, credential):
    answer = await era.send(http, "tools/list", authorization=credential)
    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]


@pytest.mark.parametrize("method", ["initialize", "tools/list", "ping", "no/such"])
@proves("MCP-GROK")
async def test_the_authenticated_surface_names_its_own_metadata(http, method):
    answer = await LEGACY_ERA.send(http, method, path="/grok-mcp")
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == f'Bearer scope="{ALL}", resource_metadata="{METADATA}/grok-mcp"'


async def test_the_authenticated_surface_serves_the_same_tools(alice, http, era):
    public = (await era.send(http, "tools/list")).json()["result"]["tools"]
    assert (await era.send(alice.client, "tools/list", path="/grok-mcp")).json()["result"]["tools"] == public


@proves("MCP-UNKNOWN")
async def test_unknown_methods_are_unknown_not_unauthorized(http):
    answer = await MODERN_ERA.send(http, "no/such")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, -32601)
    legacy = await LEGACY_ERA.send(http, "no/such")
    assert (legacy.status_code, legacy.json()["error"]["code"]) == (200, -32601)


BOMBS = {
    "nothing": b"",
    "not JSON": b"{",
    "deep objects": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "deep arrays": b"[" * 60_000,
    "a raw NUL": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\x00"}}',
    "a lone surrogate": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\\ud800"}}',
    "bytes": b"\xff\xfe\x00",
    "a batch": b"[" + PING + b"]",
    "an empty batch": b"[]",
    "a number": b"1",
    "no version": b'{"id":1,"method":"ping"}',
    "a null id": b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
    "a fraction as id": b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
    "an object as id": b'{"jsonrpc":"2.0","id":{},"method":"ping"}',
    "a number as method": b'{"jsonrpc":"2.0","id":1,"method":5}',
    "neither method nor result": b'{"jsonrpc":"2.0","id":1}',
    "an array of parameters": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}',
    "a huge number": b'{"jsonrpc":"2.0","id":' + b"9" * 5_000 + b',"method":"ping"}',
}


@proves("MCP-ALONE")
@pytest.mark.parametrize("bomb", BOMBS)
@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28", "1900-01-01"])
async def test_what_is_no_message_gets_one_clean_error(http, bomb, version):
    answer = await raw(http, BOMBS[bomb], mcp_protocol_version=version, accept="application/json, text/event-stream")
    assert answer.status_code == 400, answer.text
    body = answer.json()
    assert body.keys() == {"jsonrpc", "id", "error"}
    assert body["error"]["code"] in {-32700, -32600, -32602}
    assert "\n" not in answer.text
    assert "pydantic" not in answer.text


async def test_an_oversized_body_is_an_error_response(alice, settings):
    answer = await raw(alice.client, b" " * (settings.max_body_bytes + 1))
    assert (answer.status_code, answer.json()["error"]["data"]["reason"]) == (413, "PAYLOAD_TOO_LARGE")


@proves("MCP-LINE")
async def test_accept_is_read_leniently(http):
    for accept in ("application/json", "*/*", "application/json;q=0.9, text/event-stream", ""):
        answer = await raw(http, PING, accept=accept)
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "application/json"
        assert "\n" not in answer.text
    assert (await raw(http, PING, accept="text/html")).status_code == 406


async def test_whitespace_around_routing_headers_is_dropped(http):
    # Header lines as a parser that keeps the whitespace hands them over.
    method = "resources/list"
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": MODERN_ERA.params({})}).encode()
    request = http.build_request("POST", "/mcp", content=body, headers=MODERN_ERA.headers(method, {}))
    request.headers["content-type"] = "application/json"
    request.headers.raw[:] = [
        (name, b" " + value + b"\t" if name.lower() == b"mcp-method" else value) for name, value in request.headers.raw
    ]
    assert (await http.send(request)).status_code == 200


async def test_routing_headers_must_agree_with_the_body(http):
    answer = await MODERN_ERA.send(http, "tools/list", mcp_method="ping")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32020)


@proves("MCP-202")
async def test_notifications_are_taken_without_an_answer(http):
    answer = await raw(http, b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    assert (answer.status_code, answer.content) == (202, b"")


@pytest.mark.parametrize("asked", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
@proves("MCP-ERAS")
async def test_initialize_agrees_to_every_handshake_revision(http, asked):
    params = {"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    result = (await Era(None).send(http, "initialize", params)).json()["result"]
    assert result["protocolVersion"] == asked
    assert result["serverInfo"]["name"] == "context-repo"
    assert set(result["capabilities"]) == {"tools", "resources", "prompts"}
    assert not any(part.get("listChanged") for part in result["capabilities"].values())


@proves("MCP-ERAS")
async def test_discover_is_the_stateless_twin_of_initialize(http):
    result = (await MODERN_ERA.send(http, "server/discover")).json()["result"]
    assert result["supportedVersions"] == ["2026-07-28"]
    assert (result["cacheScope"], result["ttlMs"] > 0) == ("public", True)
    assert not any(part.get("listChanged") for part in result["capabilities"].values())


@proves("AUTH-PUBLIC")
@pytest.mark.parametrize(
    ("path", "resource"), [("", "/mcp"), ("/mcp", "/mcp"), ("/grok-mcp", "/grok-mcp"), ("/v1", "/v1")]
)
async def test_each_resource_has_its_metadata(http, path, resource):
    answer = await http.get(f"/.well-known/oauth-protected-resource{path}")
    body = answer.json()
    assert body["resource"] == f"http://service.test{resource}"
    assert body["bearer_methods_supported"] == ["header"]
    assert body["authorization_servers"] == ["http://service.test"]
    assert answer.headers["access-control-allow-origin"] == "*"


async def test_an_oauth_token_without_the_scope_is_sent_back_for_more(alice, make, service, era):
    gate = service.state.gate
    principal = await gate.authenticate(Credential(f"API-Key {await make.key(alice, scopes=('documents.read',))}"))

    async def resolve(_: str, __: str) -> Principal:
        return replace(principal, kind=CredentialKind.OAUTH)

    gate._resolvers = {**gate._resolvers, "test-oauth": Cached(resolve)}
    client = client_of(service, "Test-OAuth x")
    refused = await era.send(client, "tools/call", {"name": "create_document", "arguments": {}})
    assert refused.status_code == 403
    challenge = refused.headers["www-authenticate"]
    assert challenge == (
        f'Bearer error="insufficient_scope", scope="documents.read documents.write", resource_metadata="{METADATA}/mcp"'
    )
    assert (await era.send(client, "tools/call", {"name": "list_documents", "arguments": {}})).status_code == 200


async def until_waiting(sql, *, writers):
    """Wait until so many statements of the service wait for a lock."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    for _ in range(500):
        if await sql.fetchval(waiting) == writers:
            return
        await asyncio.sleep(0.02)
    pytest.fail(f"no moment with {writers} waiting statements")


async def test_a_client_that_leaves_cancels_its_call(alice, sql, service):
    # A write that waits for a row lock is cut off with its client, and nothing is written.
    made = await MODERN_ERA.call(alice.client, "create_document", {"title": "x", "content": "y"})
    document_id = made["structuredContent"]["data"]["id"]
    change = {"documentId": document_id, "title": "late", "expectedRevision": 1}
    async with sql.acquire() as connection, connection.transaction():
        await connection.execute("SELECT FROM documents WHERE id = $1 FOR UPDATE", UUID(document_id))
        call = asyncio.create_task(
            MODERN_ERA.send(alice.client, "tools/call", {"name": "update_document", "arguments": change})
        )
        await until_waiting(sql, writers=1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await until_waiting(sql, writers=0)
    assert (await alice.client.get(f"/v1/documents/{document_id}")).json()["data"]["revision"] == 1


@pytest.mark.parametrize("path", ["/mcp", "/grok-mcp"])
@pytest.mark.parametrize("credential", [None, "API-Key gm_no_such"])
async def test_a_large_body_is_not_read_for_somebody_unknown(service, path, credential):
    sent = 0

    async def endless():
        nonlocal sent
        yield b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"'
        while True:
            sent += 16_384
            yield b"a" * 16_384

    async with client_of(service, credential) as client:
        answer = await client.post(path, content=endless(), headers={"content-type": "application/json"})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer ")
    assert sent <= 128 * 1024


@proves("ANONYMOUS-RATE")
async def test_calls_of_nobody_are_limited_by_their_address(http, alice, monkeypatch):
    monkeypatch.setattr(guard, "_ANONYMOUS", Limit(2, 60))
    here, there = ({"x_forwarded_for": f"198.51.100.{number}"} for number in (77, 78))
    answers = [await LEGACY_ERA.send(http, "tools/list", **here) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    refused = answers[-1]
    assert refused.json()["error"]["data"]["reason"] == "RATE_LIMITED"
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert (await LEGACY_ERA.send(http, "tools/list", **there)).status_code == 200
    assert (await LEGACY_ERA.send(alice.client, "tools/list", **here)).status_code == 200


@proves("MCP-ERAS")
@pytest.mark.parametrize("method", ["initialize", "tools/list", "no/such"])
async def test_a_revision_that_nobody_speaks_is_refused_with_those_that_are_spoken(http, method):
    answer = await Era("9999-01-01").send(http, method, message_id="m-1")
    error = answer.json()["error"]
    assert (answer.status_code, answer.json()["id"], error["code"]) == (400, "m-1", -32022)
    assert error["data"] == {"supported": [wire.MODERN], "requested": "9999-01-01"}  # those of server/discover
    assert all(version in error["message"] for version in (*wire.HANDSHAKE, wire.MODERN))


async def test_an_encoded_message_is_refused_with_what_is_accepted(http):
    answer = await raw(http, PING, content_encoding="gzip")
    error = answer.json()["error"]
    assert answer.status_code == 415
    assert error["data"]["details"] == {"acceptEncoding": "identity"}
