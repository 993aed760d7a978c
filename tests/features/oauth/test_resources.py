"""Tokens are for one surface; what lacks a scope is told which; metadata in every form."""

from __future__ import annotations

import asyncio
import re

import pytest
from authlib.oauth2 import rfc8414, rfc9207

from app.features.oauth.targets import Targets
from app.gate import ports
from tests.contract.requirements import proves
from tests.edge.mcp.wire import BOTH, LEGACY_ERA
from tests.features.oauth.conftest import browser_of
from tests.features.oauth.flow import ISSUER, Flow

PATHS = ("/mcp", "/grok-mcp", "/mcp/all", "/v1")
ALL = "prompts.read prompts.write documents.read documents.write workspace.read workspace.write"


async def ask(client, path):
    """A call that works on a surface for whoever may call it."""
    if path == "/v1":
        return await client.get("/v1/user/me")
    return await LEGACY_ERA.send(client, "tools/call", {"name": "get_user_info", "arguments": {}}, path=path)


@pytest.mark.parametrize("meant", PATHS)
@pytest.mark.parametrize("called", PATHS)
@proves("OAUTH-RESOURCE")
async def test_a_token_is_good_on_its_own_surface_only(flow, bearer, meant, called):
    tokens = await flow.tokens(resource=ISSUER + meant)
    answer = await ask(bearer(tokens["access_token"]), called)
    if meant == called:
        assert answer.status_code == 200, answer.text
        return
    assert answer.status_code == 401
    challenge = answer.headers["www-authenticate"]
    assert 'error="invalid_token"' in challenge
    assert f"resource={ISSUER}{called}" in challenge
    assert f'resource_metadata="{ISSUER}/.well-known/oauth-protected-resource{called}"' in challenge


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        (f"{ISSUER}/mcp", "/mcp"),
        (f"{ISSUER}/mcp/", "/mcp"),
        (ISSUER, "/mcp"),
        (f"{ISSUER}/", "/mcp"),
        ("HTTPS://SERVICE.test:443/mcp", "/mcp"),
        (f"{ISSUER}/grok-mcp/", "/grok-mcp"),
        (f"{ISSUER}/v1", "/v1"),
        (None, "/mcp"),
        ([f"{ISSUER}/mcp", f"{ISSUER}/mcp/"], "/mcp"),
    ],
)
async def test_a_resource_is_found_however_it_is_written(flow, bearer, sent, meant):
    answer = await flow.authorize(resource=sent)
    tokens = (await flow.exchange(answer["code"], resource=sent)).json()
    assert (await ask(bearer(tokens["access_token"]), meant)).status_code == 200


@pytest.mark.parametrize(
    ("url", "sent", "found"),
    [
        ("http://127.0.0.1:8000", "http://localhost:8000/mcp", "http://127.0.0.1:8000/mcp"),
        ("http://127.0.0.1:8000", "http://localhost:9000/mcp", None),
        ("http://127.0.0.1:8000", "https://127.0.0.1:8000/mcp", None),
        ("https://a.example/base", "https://a.example/base/mcp/", "https://a.example/base/mcp"),
        ("https://a.example/base", "https://a.example/mcp", None),
        ("https://a.example", "https://u@a.example/mcp", None),
        ("https://a.example", "https://a.example/MCP", None),
        ("https://a.example", "https://a.example:x/mcp", None),
        ("https://a.example", "", None),
    ],
)
def test_the_canonical_form(url, sent, found):
    assert Targets(url, ("/mcp", "/v1")).find([sent]) == found


@pytest.mark.parametrize("path", ["/mcp", "/grok-mcp"])
async def test_nothing_sent_draws_a_challenge_without_an_error(app, path):
    async with browser_of(app) as http:
        answer = await ask(http, path)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == (
        f'Bearer scope="{ALL}", resource_metadata="{ISSUER}/.well-known/oauth-protected-resource{path}"'
    )


@pytest.mark.parametrize("method", ["initialize", "tools/list", "server/discover", "resources/list", "ping", "nothing"])
async def test_grok_authenticates_every_request(app, flow, bearer, method):
    async with browser_of(app) as http:
        assert (await LEGACY_ERA.send(http, method, {}, path="/grok-mcp")).status_code == 401


@pytest.mark.parametrize("where", ["query", "form", "cookie"])
async def test_a_token_anywhere_but_in_the_header_is_none(app, flow, where):
    token = (await flow.tokens(resource=f"{ISSUER}/v1"))["access_token"]
    async with browser_of(app) as http:
        if where == "query":
            answer = await http.get(f"/v1/user/me?access_token={token}")
        elif where == "form":
            answer = await http.post("/v1/documents", data={"access_token": token})
        else:
            answer = await http.get("/v1/user/me", headers={"cookie": f"access_token={token}"})
    assert answer.status_code == 401


@pytest.mark.parametrize("era", BOTH, ids=["legacy", "modern"])
@proves("OAUTH-STEP-UP")
async def test_an_oauth_client_without_the_scope_is_told_to_step_up(flow, bearer, era):
    tokens = await flow.tokens(scope="documents.read")
    client = bearer(tokens["access_token"])
    params = {"name": "create_document", "arguments": {"title": "A", "content": "B"}}
    answer = await era.send(client, "tools/call", params)
    assert answer.status_code == 403
    assert answer.headers["www-authenticate"] == (
        'Bearer error="insufficient_scope", scope="documents.read documents.write", '
        f'resource_metadata="{ISSUER}/.well-known/oauth-protected-resource/mcp"'
    )
    wider = await flow.tokens(scope="documents.read documents.write")
    assert (await era.send(bearer(wider["access_token"]), "tools/call", params)).status_code == 200


@pytest.mark.parametrize("era", BOTH, ids=["legacy", "modern"])
@pytest.mark.parametrize("path", ["/mcp", "/grok-mcp"])
@proves("OAUTH-STEP-UP")
async def test_reading_a_stored_resource_without_the_scope_is_a_challenge_too(flow, bearer, era, path):
    tokens = await flow.tokens(scope="prompts.read", resource=ISSUER + path)
    client = bearer(tokens["access_token"])
    stored = {"uri": "contextrepo://documents/0190f0f0-0000-7000-8000-000000000000"}
    answer = await era.send(client, "resources/read", stored, path=path)
    assert answer.status_code == 403
    assert answer.json()["id"] == 1
    assert 'error="insufficient_scope", scope="documents.read prompts.read"' in answer.headers["www-authenticate"]
    for uri in ("contextrepo://capabilities", "contextrepo://openapi"):
        assert (await era.send(client, "resources/read", {"uri": uri}, path=path)).status_code == 200
    wider = bearer((await flow.tokens(scope="documents.read", resource=ISSUER + path))["access_token"])
    found = await era.send(wider, "resources/read", stored, path=path)
    assert found.json()["error"]["data"]["reason"] == "NOT_FOUND"


@pytest.mark.parametrize("era", BOTH, ids=["legacy", "modern"])
@pytest.mark.parametrize("path", ["/mcp", "/grok-mcp"])
@proves("OAUTH-STEP-UP")
async def test_stored_prompts_without_the_scope_are_a_challenge_too(flow, bearer, people, era, path):
    narrow = bearer((await flow.tokens(scope="documents.read", resource=ISSUER + path))["access_token"])
    wider = bearer((await flow.tokens(scope="prompts.read", resource=ISSUER + path))["access_token"])
    key = await people.user(scopes=("documents.read",))
    for method, params in (("prompts/list", {}), ("prompts/get", {"name": "0190f0f0-0000-7000-8000-000000000000"})):
        answer = await era.send(narrow, method, params, path=path)
        assert (answer.status_code, answer.json()["id"]) == (403, 1)
        assert 'error="insufficient_scope", scope="documents.read prompts.read"' in answer.headers["www-authenticate"]
        assert answer.json()["error"]["data"]["reason"] == "INSUFFICIENT_SCOPE"
        assert (await era.send(wider, method, params, path=path)).status_code != 403
        refused = await era.send(key.client, method, params, path=path)
        assert "www-authenticate" not in refused.headers
        assert refused.json()["error"]["data"]["reason"] == "INSUFFICIENT_SCOPE"


async def test_over_rest_an_oauth_client_gets_the_challenge_and_a_key_does_not(flow, bearer, people):
    tokens = await flow.tokens(scope="documents.read", resource=f"{ISSUER}/v1")
    body = {"title": "A", "content": "B"}
    answer = await bearer(tokens["access_token"]).post("/v1/documents", json=body)
    assert (answer.status_code, answer.json()["error"]["reason"]) == (403, "INSUFFICIENT_SCOPE")
    assert 'scope="documents.read documents.write"' in answer.headers["www-authenticate"]
    user = await people.user(scopes=("documents.read",))
    refused = await user.client.post("/v1/documents", json=body)
    assert refused.status_code == 403
    assert "www-authenticate" not in refused.headers


async def test_write_implies_read(flow, bearer):
    tokens = await flow.tokens(scope="documents.write", resource=f"{ISSUER}/v1")
    assert tokens["scope"] == "documents.write"
    assert (await bearer(tokens["access_token"]).get("/v1/documents")).status_code == 200


FORMS = [
    "/.well-known/oauth-authorization-server",
    *(f"/.well-known/oauth-authorization-server{path}" for path in PATHS),
    *(f"{path}/.well-known/oauth-authorization-server" for path in PATHS),
]


@pytest.mark.parametrize("path", FORMS)
@proves("OAUTH-METADATA")
async def test_the_servers_metadata_is_found_in_every_form(person, path):
    answer = await person.http.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "public" in answer.headers["cache-control"]
    found = answer.json()
    assert found["issuer"] == ISSUER
    assert found["code_challenge_methods_supported"] == ["S256"]
    assert "none" in found["token_endpoint_auth_methods_supported"]
    assert found["client_id_metadata_document_supported"] is True
    assert found["authorization_response_iss_parameter_supported"] is True
    assert all(value.startswith(f"{ISSUER}/") for key, value in found.items() if key.endswith("_endpoint"))
    for name in ("registration", "revocation", "introspection", "device_authorization", "authorization", "token"):
        assert f"{name}_endpoint" in found
    rfc8414.AuthorizationServerMetadata(found).validate([rfc9207.AuthorizationServerMetadata])


async def test_metadata_of_nothing_is_not_found(person):
    for path in ("/.well-known/oauth-authorization-server/other", "/other/.well-known/oauth-authorization-server"):
        assert (await person.http.get(path)).status_code == 404


@pytest.mark.parametrize("path", ["", *PATHS])
async def test_every_resource_names_the_issuer(person, path):
    found = (await person.http.get(f"/.well-known/oauth-protected-resource{path}")).json()
    assert found["authorization_servers"] == [ISSUER]
    assert found["resource"] == ISSUER + (path or "/mcp")
    assert "offline_access" not in found["scopes_supported"]


async def test_every_endpoint_of_the_metadata_answers(person):
    found = (await person.http.get(FORMS[0])).json()
    for key, value in found.items():
        if key.endswith("_endpoint"):
            answer = await person.http.post(value, data={"x": "y"}, headers={"sec-fetch-site": "same-origin"})
            assert answer.status_code not in (404, 405, 500), key


@proves("OAUTH-APPS")
async def test_a_connected_app_is_listed_and_taken_back_within_seconds(flow, bearer, person):
    tokens = await flow.tokens(resource=f"{ISSUER}/v1")
    client = bearer(tokens["access_token"])
    assert (await ask(client, "/v1")).status_code == 200
    page = await person.http.get("/dashboard/apps")
    assert page.status_code == 200
    assert "Test client" in page.text
    grant = re.search(r'name="grant" value="([^"]+)"', page.text).group(1)
    token = re.search(r'name="csrf" value="([^"]+)"', page.text).group(1)
    own = {"sec-fetch-site": "same-origin"}
    assert (await person.http.post("/dashboard/apps", data={"grant": grant})).status_code == 403
    done = await person.http.post("/dashboard/apps", data={"grant": grant, "csrf": token}, headers=own)
    assert done.status_code == 303
    deadline = asyncio.get_running_loop().time() + ports.CACHE_SECONDS + 1
    while (await ask(client, "/v1")).status_code == 200:
        assert asyncio.get_running_loop().time() < deadline
        await asyncio.sleep(0.2)
    assert (await flow.refresh(tokens["refresh_token"])).json()["error"] == "invalid_grant"
    assert "Test client" not in (await person.http.get("/dashboard/apps")).text


async def test_an_app_of_somebody_else_cannot_be_taken_back(flow, people, signed_in, bearer, sql):
    tokens = await flow.tokens(resource=f"{ISSUER}/v1")
    grant = await sql.fetchval("SELECT id FROM oauth_grants WHERE client_id = $1", flow.client_id)
    other = await signed_in(await people.user())
    page = await other.http.get("/dashboard/apps")
    token = re.search(r'name="csrf" value="([^"]+)"', page.text).group(1)
    sent = {"grant": str(grant), "csrf": token}
    answer = await other.http.post("/dashboard/apps", data=sent, headers={"sec-fetch-site": "same-origin"})
    assert answer.status_code == 404
    assert (await ask(bearer(tokens["access_token"]), "/v1")).status_code == 200


async def test_the_static_client_of_the_command_line(person, bearer):
    flow = Flow(person.http, client_id="ctx", redirect="http://127.0.0.1:41234/callback")
    page = await flow.open()
    assert "ctx command line" in page.text
    assert "part of this service" in page.text
    tokens = await flow.tokens(resource=f"{ISSUER}/v1")
    assert (await ask(bearer(tokens["access_token"]), "/v1")).status_code == 200
