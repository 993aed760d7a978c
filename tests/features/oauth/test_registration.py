"""Dynamic registration and its management."""

from __future__ import annotations

import pytest

from app.features.oauth import http, queries
from app.gate.policy import Limit
from tests.contract.requirements import proves
from tests.features.oauth.conftest import browser_of
from tests.features.oauth.flow import ISSUER, REDIRECT, Flow, answer_of


async def test_an_answer_tells_how_the_registration_is_managed(flow):
    found = flow.registered
    assert found["registration_client_uri"] == f"{ISSUER}/oauth/register/{flow.client_id}"
    assert found["registration_access_token"]
    assert found["client_id_issued_at"] > 0
    assert "client_secret" not in found
    assert found["redirect_uris"] == [REDIRECT]
    assert found["token_endpoint_auth_method"] == "none"


@proves("OAUTH-REGISTER")
async def test_a_registration_is_read_changed_and_deleted_with_its_token(flow, bearer):
    path = f"/oauth/register/{flow.client_id}"
    right = {"authorization": f"Bearer {flow.registered['registration_access_token']}"}
    read = await flow.http.get(path, headers=right)
    assert read.status_code == 200
    assert read.json()["client_name"] == "Test client"
    assert read.json()["registration_client_uri"] == ISSUER + path
    body = {
        "client_id": flow.client_id,
        "client_name": "Renamed",
        "redirect_uris": ["https://client.example/new"],
        "token_endpoint_auth_method": "none",
    }
    changed = await flow.http.put(path, json=body, headers=right)
    assert changed.status_code == 200
    assert changed.json()["client_name"] == "Renamed"
    assert (await flow.open()).status_code == 400
    flow.redirect = "https://client.example/new"
    tokens = await flow.tokens(resource=f"{ISSUER}/v1")
    bad = await flow.http.put(path, json=body | {"client_id": "other"}, headers=right)
    assert bad.status_code == 400
    assert (await flow.http.delete(path, headers=right)).status_code == 204
    assert (await flow.http.get(path, headers=right)).status_code == 401
    assert (await flow.open()).status_code == 400
    assert (await flow.refresh(tokens["refresh_token"])).json()["error"] == "invalid_client"
    assert (await bearer(tokens["access_token"]).get("/v1/user/me")).status_code == 401


@pytest.mark.parametrize("authorization", [None, "Bearer wrong", "Basic eDp5", "Bearer"])
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
async def test_a_registration_is_nobody_elses(flow, person, authorization, method):
    twin = Flow(person.http)
    await twin.register()
    headers = {"authorization": authorization} if authorization else {}
    for sent in (headers, {"authorization": f"Bearer {twin.registered['registration_access_token']}"}):
        body = {"json": {"client_id": flow.client_id}} if method == "PUT" else {}
        answer = await flow.http.request(method, f"/oauth/register/{flow.client_id}", headers=sent, **body)
        assert answer.status_code == 401
        assert answer.json()["error"] == "invalid_token"
        assert answer.headers["www-authenticate"].startswith("Bearer")
    assert (await flow.open()).status_code == 200


@pytest.mark.parametrize(
    "uri",
    [
        "http://client.example/callback",
        "https://user@client.example/callback",
        "https://client.example/callback#x",
        "https://client.example/a/../b",
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "custom://callback",
        "https://",
        "/callback",
        "https://client.example/\u202e",
        "https://client.example\\@evil.example/",
        "http://127.0.0.1.evil.example/callback",
        7,
    ],
)
async def test_addresses_that_could_do_harm_are_refused(person, uri):
    answer = await Flow(person.http).register(redirect_uris=[uri])
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_redirect_uri")


@pytest.mark.parametrize(
    "uri",
    [
        "http://localhost:3000/cb",
        "http://[::1]:9/cb",
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "https://a.example:8443/x?y=z",
    ],
)
async def test_addresses_of_real_clients_are_taken(person, uri):
    flow = Flow(person.http, redirect=uri)
    assert (await flow.register()).status_code == 201
    assert "code" in await flow.authorize()


@pytest.mark.parametrize(
    "metadata",
    [
        {"client_name": "x" * 3000},
        {"client_name": {"a": 1}},
        {"client_name": "a\0b"},
        {"client_uri": "javascript:alert(1)"},
        {"grant_types": ["client_credentials"]},
        {"grant_types": "authorization_code"},
        {"token_endpoint_auth_method": "private_key_jwt"},
        {"token_endpoint_auth_method": ["none"]},
        {"application_type": "other"},
        {"contacts": "me"},
        {"redirect_uris": []},
        {"redirect_uris": None},
        {"redirect_uris": ["https://client.example/"] * 21},
    ],
)
async def test_metadata_that_is_wrong_is_refused(person, metadata):
    answer = await Flow(person.http).register(**metadata)
    assert answer.status_code == 400
    assert answer.json()["error"] in ("invalid_client_metadata", "invalid_redirect_uri")


async def test_what_is_not_understood_is_overlooked(person):
    answer = await Flow(person.http).register(
        future="x", software_statement="y", application_type="native", response_types=["code", "token"],
        grant_types=["authorization_code", "refresh_token", "implicit"], scope="documents.read whatever",
    )  # fmt: skip
    assert answer.status_code == 201, answer.text
    assert "future" not in answer.json()
    assert answer.json()["grant_types"] == ["authorization_code", "refresh_token"]
    assert answer.json()["response_types"] == ["code"]


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
async def test_a_path_that_no_client_id_can_be_is_refused_like_an_unknown_one(person, method):
    body = {"json": {"redirect_uris": ["https://a.example/b"]}} if method == "PUT" else {}
    for path in ("a%00b", "%00", "unknown", "%F0%9F%98%80"):
        answer = await person.http.request(
            method, f"/oauth/register/{path}", headers={"authorization": "Bearer x"}, **body
        )
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_token"), path


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b"{", b'"x"', b"\xff"])
async def test_a_body_that_is_no_registration_is_refused(person, body):
    answer = await person.http.post("/oauth/register", content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")


async def test_a_large_registration_is_refused(person):
    assert (await Flow(person.http).register(client_uri="https://a.example/" + "x" * 20_000)).status_code == 413


async def test_registrations_are_limited_by_address(app, monkeypatch):
    monkeypatch.setitem(http.RATES, "register", Limit(2, 3600))
    async with browser_of(app) as stranger:
        answers = [await Flow(stranger).register() for _ in range(3)]
    assert [answer.status_code for answer in answers] == [201, 201, 429]
    assert answers[2].json()["error"] == "slow_down"
    assert int(answers[2].headers["retry-after"]) > 0


async def test_a_client_that_nobody_uses_expires(flow, person, sql, database):
    used = Flow(person.http)
    await used.register()
    await used.tokens()
    days = await sql.fetch(
        "SELECT extract(day FROM expires_at - clock_timestamp())::int AS days FROM oauth_clients "
        "WHERE client_id = ANY($1) ORDER BY days",
        [flow.client_id, used.client_id],
    )
    assert [row["days"] for row in days] == [29, 89]
    await sql.execute(
        "UPDATE oauth_clients SET expires_at = now() - interval '2 days' WHERE client_id = $1", flow.client_id
    )
    assert (await flow.open()).status_code == 400
    await queries.purge(database)
    assert await sql.fetchval("SELECT count(*) FROM oauth_clients WHERE client_id = $1", flow.client_id) == 0
    assert "code" in answer_of(await used.open())
