"""Who an issuer's subject is here, what it may do, and what the settings say about it."""

from __future__ import annotations

import asyncio
import secrets

import pytest
from pydantic import ValidationError

from app.gate.policy import Scope, Vocabulary
from app.settings import Settings
from tests.contract.requirements import proves
from tests.edge.mcp.wire import BOTH
from tests.features.issuer.conftest import V1, trusting
from tests.support.service import BASE_URL, serving


async def me(client):
    async with client:
        return await client.get("/v1/user/me")


def subject():
    return secrets.token_hex(8)


async def users_of(sql, name):
    return await sql.fetch("SELECT user_id, workspace_id FROM identities WHERE subject = $1", name)


@proves("ISSUER-ACCOUNT")
async def test_a_subject_is_one_user_whatever_token_it_brings(guest_app, issuer, caller, sql):
    who = subject()
    first = (await me(caller(guest_app, issuer.token(aud=V1, sub=who)))).json()["data"]
    second = (await me(caller(guest_app, issuer.token(aud=V1, sub=who, client_id="other")))).json()["data"]
    third = (await me(caller(guest_app, issuer.token(aud=V1, sub=subject())))).json()["data"]
    assert first["id"] == second["id"] != third["id"]
    assert len(await users_of(sql, who)) == 1


@proves("ISSUER-ACCOUNT")
async def test_one_persons_first_requests_at_once_make_one_user(guest_app, issuer, caller, sql):
    who, email = subject(), f"{subject()}@example.com"
    said = {"aud": V1, "sub": who, "email": email, "email_verified": True}
    answers = await asyncio.gather(
        *(me(caller(guest_app, issuer.token(**said, jti=str(number)))) for number in range(20))
    )
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.json()["data"]["id"] for answer in answers}) == 1
    assert len(await users_of(sql, who)) == 1
    assert await sql.fetchval("SELECT count(*) FROM users WHERE email = $1", email) == 1


@proves("ISSUER-ACCOUNT")
@pytest.mark.parametrize("signup", ["closed", "invite"])
async def test_where_accounts_are_not_made_a_verified_address_leads_to_the_user_who_has_it(
    settings, issuer, caller, alice, bob, sql, signup
):
    async with serving(trusting(settings, issuer, signup=signup)) as app:
        verified = {"aud": V1, "sub": subject(), "email": alice.email.upper(), "email_verified": True}
        answer = await me(caller(app, issuer.token(**verified)))
        assert answer.json()["data"]["id"] == str(alice.id)
        again = {"aud": V1, "sub": verified["sub"]}
        assert (await me(caller(app, issuer.token(**again)))).json()["data"]["id"] == str(alice.id)
        strangers = [
            {"email": bob.email},
            {"email": bob.email, "email_verified": False},
            {"email": bob.email, "email_verified": "true"},
            {"email": "nobody@example.com", "email_verified": True},
            {"email": alice.email, "email_verified": True},
            {},
        ]
        for said in strangers:
            refused = await me(caller(app, issuer.token(aud=V1, **({"sub": subject()} | said))))
            assert (refused.status_code, refused.json()["error"]["reason"]) == (403, "NO_ACCOUNT"), said
    assert await sql.fetchval("SELECT count(*) FROM identities WHERE user_id = $1", bob.id) == 0


@proves("ISSUER-ACCOUNT")
async def test_a_second_subject_with_the_same_address_is_somebody_else(guest_app, issuer, caller, alice, sql):
    said = {"aud": V1, "email": alice.email, "email_verified": True}
    first = (await me(caller(guest_app, issuer.token(**said)))).json()["data"]
    second = (await me(caller(guest_app, issuer.token(**said)))).json()["data"]
    assert first["id"] == str(alice.id) != second["id"]
    assert second["email"].endswith("@unknown.invalid")


async def test_an_address_that_nobody_verified_is_not_kept(guest_app, issuer, caller, alice):
    found = (await me(caller(guest_app, issuer.token(aud=V1, email=alice.email)))).json()["data"]
    assert found["email"].endswith("@unknown.invalid")
    assert found["id"] != str(alice.id)


async def test_a_name_with_control_characters_is_cleaned(guest_app, issuer, caller):
    name = "Eve\u202e \x1b[31m" + "x" * 300
    found = (await me(caller(guest_app, issuer.token(aud=V1, name=name)))).json()["data"]
    assert found["name"].startswith("Eve [31mx")
    assert len(found["name"]) == 100


async def test_what_is_new_is_in_the_trail_of_accounts(guest_app, issuer, caller, sql):
    who = subject()
    await me(caller(guest_app, issuer.token(aud=V1, sub=who)))
    actions = await sql.fetch("SELECT action FROM account_audit WHERE subject = $1", who)
    assert [row["action"] for row in actions] == ["account.created"]


async def test_who_left_the_workspace_has_no_access(guest_app, issuer, caller, sql):
    who = subject()
    found = (await me(caller(guest_app, issuer.token(aud=V1, sub=who)))).json()["data"]
    await sql.execute("DELETE FROM memberships WHERE user_id = $1", found["id"])
    assert (await me(caller(guest_app, issuer.token(aud=V1, sub=who, jti="b")))).status_code == 401


async def test_clients_of_one_person_have_receipts_of_their_own_and_a_refreshed_token_keeps_them(
    guest_app, issuer, caller
):
    who, body = subject(), {"title": "Once", "content": "x"}
    key = {"idempotency-key": "the-same"}
    made = []
    for client_id in ("one", "one", "two"):
        async with caller(guest_app, issuer.token(aud=V1, sub=who, client_id=client_id, jti=subject())) as client:
            made.append(await client.post("/v1/documents", json=body, headers=key))
    assert [answer.status_code for answer in made] == [201] * 3
    ids = [answer.json()["data"]["id"] for answer in made]
    assert ids[0] == ids[1] != ids[2]


@proves("ISSUER-SCOPES")
@pytest.mark.parametrize(
    ("claims", "reads", "writes"),
    [
        ({"scope": "openid documents.read"}, 200, 403),
        ({"scope": None, "scp": ["documents.write"]}, 200, 201),
        ({"scope": None, "scp": "documents.write offline_access"}, 200, 201),
        ({"scope": "documents.admin"}, 403, 403),
        ({"scope": 7}, 403, 403),
        ({"scope": None}, 403, 403),
    ],
)
async def test_scopes_count_by_their_own_names(guest_app, issuer, caller, claims, reads, writes):
    async with caller(guest_app, issuer.token(**{"aud": V1} | claims)) as client:
        assert (await client.get("/v1/documents")).status_code == reads
        assert (await client.post("/v1/documents", json={"title": "A", "content": "B"})).status_code == writes


@proves("ISSUER-SCOPES")
async def test_an_operator_may_translate_the_issuers_scopes(settings, issuer, caller):
    words = {"openid": ["documents.read"], "ctx:edit": ["documents.write", "prompts.write"]}
    async with serving(trusting(settings, issuer, auth_scopes=words)) as app:
        async with caller(app, issuer.token(aud=V1, scope="openid documents.write")) as client:
            assert (await client.get("/v1/documents")).status_code == 200
            refused = await client.post("/v1/documents", json={"title": "A", "content": "B"})
            assert refused.status_code == 403
            assert 'scope="ctx:edit openid"' in refused.headers["www-authenticate"]
            found = (await client.get("/.well-known/oauth-protected-resource/v1")).json()
            assert found["scopes_supported"] == ["openid", "ctx:edit"]
            bare = await client.get("/v1/documents", headers={"authorization": ""})
            assert 'scope="openid ctx:edit"' in bare.headers["www-authenticate"]
        async with caller(app, issuer.token(aud=V1, scope="ctx:edit")) as client:
            assert (await client.post("/v1/documents", json={"title": "A", "content": "B"})).status_code == 201


@pytest.mark.parametrize("era", BOTH, ids=["legacy", "modern"])
@proves("ISSUER-SCOPES")
async def test_over_mcp_a_missing_scope_is_a_challenge_too(guest_app, issuer, caller, era):
    async with caller(guest_app, issuer.token(aud=f"{BASE_URL}/mcp", scope="documents.read")) as client:
        params = {"name": "create_document", "arguments": {"title": "A", "content": "B"}}
        answer = await era.send(client, "tools/call", params)
    assert answer.status_code == 403
    assert 'scope="documents.read documents.write"' in answer.headers["www-authenticate"]


@proves("ISSUER-AUDIENCE")
async def test_an_operator_may_name_the_audience_that_an_issuer_gives(settings, issuer, caller):
    async with serving(trusting(settings, issuer, auth_audience=["context-repo"])) as app:
        for audience, status in (("context-repo", 200), (V1, 200), ("context", 401)):
            assert (await me(caller(app, issuer.token(aud=audience)))).status_code == status


@pytest.mark.parametrize(
    ("environment", "right"),
    [
        ({"auth_issuer": "https://id.example/realm/"}, True),
        ({"auth_issuer": "http://127.0.0.1:8080"}, True),
        ({"auth_issuer": "http://keycloak:8080"}, False),
        ({"auth_issuer": "http://keycloak:8080", "insecure_http": True}, True),
        ({"auth_issuer": "id.example"}, False),
        ({"auth_issuer": "ftp://id.example"}, False),
        ({"auth_issuer": "https://a:b@id.example"}, False),
        ({"auth_issuer": "https://id.example?x=1"}, False),
    ],
)
def test_an_issuer_must_be_an_address_whose_keys_nobody_can_replace(environment, right):
    if right:
        assert Settings(**environment).auth_issuer == environment["auth_issuer"]
        return
    with pytest.raises(ValidationError, match="AUTH_ISSUER"):
        Settings(**environment)


def test_the_settings_are_read_from_the_environment(monkeypatch):
    monkeypatch.setenv("AUTH_AUDIENCE", "a, b")
    monkeypatch.setenv("AUTH_SCOPES", "openid = documents.write prompts.read , ctx=documents.read")
    settings = Settings()
    assert settings.auth_audience == ["a", "b"]
    assert settings.auth_scopes == {"openid": ["documents.write", "prompts.read"], "ctx": ["documents.read"]}
    words = Vocabulary.of(settings.auth_scopes)
    assert words.read(["openid", "else"]) == {Scope.DOCUMENTS_WRITE, Scope.PROMPTS_READ}
    with pytest.raises(ValueError, match=r"documents\.all"):
        Vocabulary.of({"x": ["documents.all"]})
