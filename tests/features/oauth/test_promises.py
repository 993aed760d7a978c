"""What the contract says of credentials, followed as a client follows it."""

from __future__ import annotations

import re

import pytest

from tests.contract.requirements import proves
from tests.edge.mcp.wire import BOTH, LEGACY_ERA
from tests.features.oauth.conftest import browser_of
from tests.features.oauth.flow import ISSUER, Flow

PATHS = ("/mcp", "/grok-mcp", "/mcp/all", "/v1")
CALL = {"name": "get_user_info", "arguments": {}}


async def refused(http, path):
    if path == "/v1":
        return await http.get("/v1/user/me")
    return await LEGACY_ERA.send(http, "tools/call", CALL, path=path)


@pytest.mark.parametrize("path", PATHS)
@proves("AUTH-DISCOVERY")
async def test_from_a_refusal_a_client_finds_the_authorization_server(app, path):
    async with browser_of(app) as http:
        challenge = (await refused(http, path)).headers["www-authenticate"]
        resource = (await http.get(re.search(r'resource_metadata="([^"]+)"', challenge)[1])).json()
        assert resource["resource"] == ISSUER + path
        (issuer,) = resource["authorization_servers"]
        server = (await http.get(f"{issuer}/.well-known/oauth-authorization-server")).json()
    assert server["issuer"] == issuer
    assert set(resource["scopes_supported"]) <= set(server["scopes_supported"])
    for name in ("authorization_endpoint", "token_endpoint", "registration_endpoint"):
        assert server[name].startswith(f"{issuer}/")


@pytest.mark.parametrize("era", BOTH, ids=["legacy", "modern"])
@proves("AUTH-MCP-FLOW")
async def test_a_client_lists_anonymously_is_refused_a_call_signs_in_and_calls(app, person, bearer, era):
    async with browser_of(app) as http:
        assert (await era.send(http, "tools/list")).json()["result"]["tools"]
        assert (await era.send(http, "tools/call", CALL)).status_code == 401
    flow = Flow(person.http)
    await flow.register()
    tokens = await flow.tokens(resource=f"{ISSUER}/mcp")
    result = (await era.send(bearer(tokens["access_token"]), "tools/call", CALL)).json()["result"]
    assert result["structuredContent"]["data"]["id"] == str(person.id)


@proves("AUTH-AUTHORITY", "ME-35")
async def test_a_token_carries_the_whole_user_and_a_key_only_its_scopes(flow, bearer, people, person):
    whole = bearer((await flow.tokens(resource=f"{ISSUER}/v1"))["access_token"])
    assert (await whole.get("/v1/workspaces")).status_code == 200
    assert (await whole.get("/v1/user/me")).json()["data"]["authMethod"] == "oauth"
    assert (await whole.post("/v1/documents", json={"title": "A", "content": "B"})).status_code == 201
    narrow = bearer((await flow.tokens(resource=f"{ISSUER}/v1", scope="documents.write"))["access_token"])
    assert (await narrow.get("/v1/workspaces")).status_code == 403
    reader = await people.user(scopes=("documents.read",))
    assert (await reader.client.get("/v1/documents")).status_code == 200
    assert (await reader.client.post("/v1/documents", json={"title": "A", "content": "B"})).status_code == 403
    everything = await people.user()
    assert (await everything.client.get("/v1/workspaces")).status_code == 403


@proves("AUTH-SCHEMES")
async def test_both_schemes_are_taken_on_every_surface(flow, bearer, people):
    keeper = await people.user()
    for path in PATHS:
        token = (await flow.tokens(resource=ISSUER + path))["access_token"]
        assert (await refused(bearer(token), path)).status_code == 200
        assert (await refused(keeper.client, path)).status_code == 200


@pytest.mark.parametrize("path", ["/mcp", "/grok-mcp"])
async def test_a_session_id_is_no_credential_and_leads_to_nobody_elses(app, flow, bearer, people, signed_in, path):
    mine = bearer((await flow.tokens(resource=ISSUER + path))["access_token"])
    session = {"mcp_session_id": "0123456789abcdef0123456789abcdef"}
    first = (await LEGACY_ERA.send(mine, "tools/call", CALL, path=path, **session)).json()["result"]
    async with browser_of(app) as http:
        assert (await LEGACY_ERA.send(http, "tools/call", CALL, path=path, **session)).status_code == 401
    other = Flow((await signed_in(await people.user())).http)
    await other.register()
    theirs = bearer((await other.tokens(resource=ISSUER + path))["access_token"])
    second = (await LEGACY_ERA.send(theirs, "tools/call", CALL, path=path, **session)).json()["result"]
    assert first["structuredContent"]["data"]["id"] != second["structuredContent"]["data"]["id"]


async def test_answers_that_leave_the_site_go_by_get_and_carry_nothing_secret(flow):
    cookie = flow.http.cookies["__Host-session"]
    for answer in (
        await flow.submit(await flow.open(), decision="deny"),
        await flow.open(scope="admin"),
        await flow.open(resource="https://other.example/"),
        await flow.submit(await flow.open()),
    ):
        assert answer.status_code == 303
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        location = answer.headers["location"]
        assert cookie not in location
        assert flow.verifier not in location
        assert "csrf" not in location


async def test_a_well_known_brand_is_shown_with_the_host_that_gets_the_answer(person):
    flow = Flow(person.http, redirect="https://collector.example/callback")
    await flow.register(
        client_name="Claude by Anthropic", client_uri="https://anthropic.com", logo_uri="https://a.example"
    )
    page = (await flow.open()).text
    assert "collector.example" in page
    assert "registered dynamically" in page
    assert "https://a.example" not in page
