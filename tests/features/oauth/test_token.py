"""What the token endpoint refuses; races; replays; two processes; revocation and introspection."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import logging

import httpx2
import pytest

from app.features.oauth.provider.oauth import OAuth
from app.gate import ports
from tests.contract.requirements import proves
from tests.features.oauth.flow import ISSUER, Flow, challenge_of
from tests.support.asgi import Transport
from tests.support.service import serving

ME = "/v1/user/me"


def refused(answer, error, status=400):
    assert (answer.status_code, answer.json()["error"]) == (status, error), answer.text
    assert answer.headers["cache-control"] == "no-store"
    return True


def digest(token):
    return hashlib.sha256(token.encode()).digest()


async def works(client):
    return (await client.get(ME)).status_code == 200


@pytest.fixture
async def code(flow):
    return (await flow.authorize(resource=f"{ISSUER}/v1"))["code"]


@proves("OAUTH-CODE")
async def test_a_code_works_once_and_its_replay_revokes_what_came_of_it(flow, code, bearer):
    tokens = (await flow.exchange(code)).json()
    refused(await flow.exchange(code), "invalid_grant")
    assert not await works(bearer(tokens["access_token"]))
    refused(await flow.refresh(tokens["refresh_token"]), "invalid_grant")


@proves("OAUTH-CODE")
async def test_of_fifty_exchanges_of_one_code_exactly_one_succeeds(flow, code):
    answers = await asyncio.gather(*(flow.exchange(code) for _ in range(50)))
    assert sorted(answer.status_code for answer in answers) == [200] + [400] * 49


async def test_a_code_lives_a_minute(flow, code, sql):
    left = await sql.fetchval(
        "SELECT extract(epoch FROM expires_at - clock_timestamp()) FROM oauth_codes WHERE code_hash = $1", digest(code)
    )
    assert 50 < left <= 60
    await sql.execute("UPDATE oauth_codes SET expires_at = clock_timestamp() WHERE code_hash = $1", digest(code))
    refused(await flow.exchange(code), "invalid_grant")


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"redirect_uri": "https://client.example/other"}, "invalid_grant"),
        ({"redirect_uri": None}, "invalid_grant"),
        ({"code_verifier": "x" * 43}, "invalid_grant"),
        ({"code_verifier": None}, "invalid_request"),
        ({"code_verifier": "short"}, "invalid_request"),
        ({"code_verifier": "x" * 129}, "invalid_request"),
        ({"code_verifier": "ü" * 43}, "invalid_request"),
        ({"code": None}, "invalid_request"),
        ({"code": "unknown"}, "invalid_grant"),
        ({"client_id": "unknown"}, "invalid_client"),
        ({"grant_type": None}, "unsupported_grant_type"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"grant_type": "client_credentials"}, "unsupported_grant_type"),
        ({"resource": f"{ISSUER}/mcp"}, "invalid_target"),
        ({"resource": "https://other.example"}, "invalid_target"),
    ],
)
async def test_a_code_is_bound_to_everything_that_was_agreed_on(flow, code, changes, error):
    refused(await flow.exchange(code, **changes), error)
    assert (await flow.exchange(code)).status_code == 200


async def test_a_code_is_of_its_client_only(flow, code, person):
    thief = Flow(person.http, verifier=flow.verifier)
    await thief.register()
    refused(await thief.exchange(code), "invalid_grant")
    assert (await flow.exchange(code)).status_code == 200


async def test_the_challenge_is_not_the_verifier(flow):
    answer = await flow.authorize()
    refused(await flow.exchange(answer["code"], code_verifier=challenge_of(flow.verifier)), "invalid_grant")


async def test_parameters_twice_in_the_address_or_as_json_are_refused(flow, code):
    form = "application/x-www-form-urlencoded"
    twice = f"grant_type=authorization_code&code={code}&code={code}&client_id={flow.client_id}"
    answer = await flow.http.post("/oauth/token", content=twice, headers={"content-type": form})
    refused(answer, "invalid_request")
    refused(await flow.http.post(f"/oauth/token?code={code}", data={"grant_type": "x"}), "invalid_request")
    refused(await flow.http.post("/oauth/token", json={"grant_type": "x"}), "invalid_request", 415)
    refused(await flow.http.post("/oauth/token", data={"code": "x" * 40_000}), "invalid_request", 413)
    assert (await flow.http.get("/oauth/token")).status_code == 405


@proves("OAUTH-REFRESH")
async def test_a_refresh_token_rotates_and_a_late_replay_ends_the_family(flow, bearer, sql):
    first = await flow.tokens(resource=f"{ISSUER}/v1")
    second = (await flow.refresh(first["refresh_token"])).json()
    assert second["refresh_token"] != first["refresh_token"]
    await sql.execute(
        "UPDATE oauth_tokens SET used_at = used_at - interval '11 s' WHERE token_hash = $1",
        digest(first["refresh_token"]),
    )
    assert await works(bearer(second["access_token"]))
    refused(await flow.refresh(first["refresh_token"]), "invalid_grant")
    refused(await flow.refresh(second["refresh_token"]), "invalid_grant")
    fresh = bearer(second["access_token"])
    deadline = asyncio.get_running_loop().time() + ports.CACHE_SECONDS + 1
    while await works(fresh):
        assert asyncio.get_running_loop().time() < deadline
        await asyncio.sleep(0.2)


async def test_clients_that_race_their_refresh_all_get_a_working_pair(flow, bearer):
    first = await flow.tokens(resource=f"{ISSUER}/v1")
    answers = await asyncio.gather(*(flow.refresh(first["refresh_token"]) for _ in range(8)))
    assert [answer.status_code for answer in answers] == [200] * 8
    pairs = [answer.json() for answer in answers]
    assert len({pair["refresh_token"] for pair in pairs}) == 8
    assert all([await works(bearer(pair["access_token"])) for pair in pairs])
    assert (await flow.refresh(pairs[3]["refresh_token"])).status_code == 200


async def test_a_refresh_can_narrow_and_not_widen(flow):
    first = await flow.tokens(scope="documents.read documents.write")
    narrow = (await flow.refresh(first["refresh_token"], scope="documents.read")).json()
    assert narrow["scope"] == "documents.read"
    wide = await flow.refresh(narrow["refresh_token"])
    assert wide.json()["scope"] == "documents.read documents.write"
    refused(await flow.refresh(wide.json()["refresh_token"], scope="prompts.read"), "invalid_scope")
    tolerated = await flow.refresh(wide.json()["refresh_token"], scope="documents.read offline_access")
    assert tolerated.json()["scope"] == "documents.read"


async def test_a_refresh_token_is_of_its_client_and_resource_only(flow, person):
    tokens = await flow.tokens()
    thief = Flow(person.http)
    await thief.register()
    refused(await thief.refresh(tokens["refresh_token"]), "invalid_grant")
    refused(await flow.refresh(tokens["access_token"]), "invalid_grant")
    refused(await flow.refresh("unknown"), "invalid_grant")
    refused(await flow.refresh(tokens["refresh_token"], resource=f"{ISSUER}/v1"), "invalid_target")
    assert (await flow.refresh(tokens["refresh_token"], resource=f"{ISSUER}/mcp/")).status_code == 200


async def test_a_client_that_never_asks_for_offline_access_gets_a_refresh_token(person):
    flow = Flow(person.http)
    await flow.register(grant_types=["authorization_code"])
    assert (await flow.tokens())["refresh_token"]
    asked = await flow.tokens(scope="documents.read offline_access")
    assert (asked["scope"], bool(asked["refresh_token"])) == ("documents.read", True)


async def test_a_confidential_client_must_prove_itself(person):
    flow = Flow(person.http)
    await flow.register(token_endpoint_auth_method="client_secret_basic")
    answer = await flow.authorize()
    refused(await flow.exchange(answer["code"], client_secret="wrong"), "invalid_client", 401)
    refused(await flow.exchange(answer["code"], client_secret=""), "invalid_client", 401)
    basic = base64.b64encode(f"{flow.client_id}:{flow.secret}".encode()).decode()
    sent = {
        "grant_type": "authorization_code",
        "code": answer["code"],
        "redirect_uri": flow.redirect,
        "code_verifier": flow.verifier,
    }
    for wrong in ("Basic !!!", f"Basic {base64.b64encode(bytes([255, 254])).decode()}", "Basic"):
        response = await flow.http.post("/oauth/token", data=sent, headers={"authorization": wrong})
        refused(response, "invalid_client", 401)
        assert response.headers["www-authenticate"].startswith("Basic ")
    found = await flow.http.post("/oauth/token", data=sent, headers={"authorization": f"Basic {basic}"})
    assert found.status_code == 200


async def test_revoking_any_token_ends_its_family(flow, bearer, person):
    for kind in ("access_token", "refresh_token"):
        tokens = await flow.tokens(resource=f"{ISSUER}/v1", prompt="consent")
        answer = await flow.http.post(
            "/oauth/revoke", data={"client_id": flow.client_id, "token": tokens[kind], "token_type_hint": "nonsense"}
        )
        assert answer.status_code == 200
        assert not await works(bearer(tokens["access_token"]))
        refused(await flow.refresh(tokens["refresh_token"]), "invalid_grant")
    unknown = await flow.http.post("/oauth/revoke", data={"client_id": flow.client_id, "token": "unknown"})
    assert unknown.status_code == 200
    refused(await flow.http.post("/oauth/revoke", data={"client_id": flow.client_id}), "invalid_request")


async def test_a_token_of_another_client_is_not_revoked(flow, person, bearer):
    tokens = await flow.tokens(resource=f"{ISSUER}/v1")
    other = Flow(person.http)
    await other.register()
    sent = {"client_id": other.client_id, "token": tokens["access_token"]}
    assert (await flow.http.post("/oauth/revoke", data=sent)).status_code == 200
    assert await works(bearer(tokens["access_token"]))


async def test_introspection_is_for_clients_that_can_prove_themselves(flow, person):
    public = await flow.tokens()
    sent = {"token": public["access_token"], "client_id": flow.client_id}
    refused(await flow.http.post("/oauth/introspect", data=sent), "invalid_client", 401)
    keeper = Flow(person.http)
    await keeper.register(token_endpoint_auth_method="client_secret_post")
    own = await keeper.tokens()
    proof = {"client_id": keeper.client_id, "client_secret": keeper.secret}
    seen = (await keeper.http.post("/oauth/introspect", data=proof | {"token": own["access_token"]})).json()
    assert seen["active"] is True
    assert (seen["aud"], seen["iss"], seen["client_id"]) == (f"{ISSUER}/mcp", ISSUER, keeper.client_id)
    for token in (public["access_token"], "unknown"):
        other = await keeper.http.post("/oauth/introspect", data=proof | {"token": token})
        assert other.json() == {"active": False}


async def test_one_process_gives_the_code_another_the_tokens_and_both_serve_them(flow, other_app, bearer):
    answer = await flow.authorize(resource=f"{ISSUER}/v1")
    async with httpx2.AsyncClient(transport=Transport(other_app), base_url=ISSUER) as elsewhere:
        other = Flow(elsewhere, client_id=flow.client_id, verifier=flow.verifier)
        tokens = (await other.exchange(answer["code"])).json()
        again = (await other.refresh(tokens["refresh_token"])).json()
    for token in (tokens["access_token"], again["access_token"]):
        assert await works(bearer(token))
        assert await works(bearer(token, on=other_app))


async def test_tokens_survive_a_restart(flow, secure_settings, bearer):
    tokens = await flow.tokens(resource=f"{ISSUER}/v1")
    async with serving(secure_settings) as restarted:
        assert await works(bearer(tokens["access_token"], on=restarted))
        async with httpx2.AsyncClient(transport=Transport(restarted), base_url=ISSUER) as http:
            again = Flow(http, client_id=flow.client_id)
            assert (await again.refresh(tokens["refresh_token"])).status_code == 200


async def test_an_expired_token_is_refused(flow, bearer, sql):
    tokens = await flow.tokens(resource=f"{ISSUER}/v1")
    await sql.execute(
        "UPDATE oauth_tokens SET expires_at = clock_timestamp() WHERE token_hash = ANY($1)",
        [digest(tokens["access_token"]), digest(tokens["refresh_token"])],
    )
    assert not await works(bearer(tokens["access_token"]))
    refused(await flow.refresh(tokens["refresh_token"]), "invalid_grant")


async def test_a_member_who_left_gets_nothing_more(people, signed_in, bearer, sql):
    owner = await people.user()
    member = await signed_in(await people.member(owner.workspace_id, "member"))
    flow = Flow(member.http)
    await flow.register()
    answer = await flow.authorize(resource=f"{ISSUER}/v1", fields={"workspace": str(owner.workspace_id)})
    tokens = (await flow.exchange(answer["code"])).json()
    await sql.execute("DELETE FROM memberships WHERE workspace_id = $1 AND user_id = $2", owner.workspace_id, member.id)
    assert not await works(bearer(tokens["access_token"]))
    refused(await flow.refresh(tokens["refresh_token"]), "invalid_grant")


async def test_nothing_is_stored_or_logged_as_it_was_given_out(flow, sql, caplog):
    with caplog.at_level(logging.DEBUG):
        answer = await flow.authorize()
        tokens = (await flow.exchange(answer["code"])).json()
        again = (await flow.refresh(tokens["refresh_token"])).json()
    secrets = [answer["code"], flow.verifier, flow.registered["registration_access_token"]]
    secrets += [pair[kind] for pair in (tokens, again) for kind in ("access_token", "refresh_token")]
    kept = ""
    for table in ("oauth_clients", "oauth_codes", "oauth_tokens", "oauth_grants"):
        kept += "\n".join(row["text"] for row in await sql.fetch(f"SELECT t::text AS text FROM {table} t"))
    for secret in secrets:
        assert secret not in kept
        assert secret not in caplog.text
        assert len(secret) >= 43


@pytest.mark.parametrize("endpoint", ["token", "revoke", "introspect", "device_authorization"])
@pytest.mark.parametrize("client_id", ["a\0b", "a%00b", "\u202e", "unknown", "x" * 3000])
async def test_a_client_id_in_the_header_that_can_be_none_is_an_unknown_client(person, endpoint, client_id):
    credential = base64.b64encode(f"{client_id}:secret".encode()).decode()
    answer = await person.http.post(
        f"/oauth/{endpoint}",
        data={"grant_type": "refresh_token", "refresh_token": "x", "token": "x"},
        headers={"authorization": f"Basic {credential}"},
    )
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")


async def test_a_fault_of_ours_is_told_in_the_form_of_oauth_and_tells_nothing(app, person, monkeypatch):
    async def broken(*_):
        raise RuntimeError("a secret detail")

    monkeypatch.setattr(app.state.gate.get(OAuth), "token", broken)
    answer = await person.http.post("/oauth/token", data={"grant_type": "refresh_token"})
    assert (answer.status_code, answer.json()["error"]) == (500, "server_error")
    assert "secret" not in answer.text
    assert answer.headers["cache-control"] == "no-store"
