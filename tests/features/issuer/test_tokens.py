"""Which tokens of an external issuer are good: signature, issuer, audience, times, kind."""

from __future__ import annotations

import base64
import hmac
import json
import math
import time

import pytest
from joserfc.jwk import OctKey, RSAKey

from app.features.issuer.credentials import LEEWAY_SECONDS, read_claims
from tests.contract.requirements import proves
from tests.edge.mcp.wire import LEGACY_ERA
from tests.features.issuer.conftest import V1
from tests.support.service import BASE_URL

PATHS = ("/mcp", "/grok-mcp", "/mcp/all", "/v1")


def encoded(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


async def status(client):
    async with client:
        return (await client.get("/v1/user/me")).status_code


@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256", "EdDSA"])
@proves("ISSUER-TOKEN")
async def test_a_token_that_the_issuer_signed_is_good(fresh_app, changing, caller, algorithm):
    changing.rotate(algorithm)
    async with caller(fresh_app, changing.token(aud=V1, name="Ada Lovelace")) as client:
        answer = await client.get("/v1/user/me")
    assert answer.status_code == 200, answer.text
    assert (answer.json()["data"]["name"], answer.json()["data"]["authMethod"]) == ("Ada Lovelace", "oauth")


@pytest.mark.parametrize("meant", PATHS)
@pytest.mark.parametrize("called", PATHS)
@proves("ISSUER-AUDIENCE")
async def test_a_token_is_good_on_the_surface_that_it_names_only(guest_app, issuer, caller, meant, called):
    async with caller(guest_app, issuer.token(aud=["https://other.example", BASE_URL + meant])) as client:
        if called == "/v1":
            answer = await client.get("/v1/user/me")
        else:
            call = {"name": "get_user_info", "arguments": {}}
            answer = await LEGACY_ERA.send(client, "tools/call", call, path=called)
    assert answer.status_code == (200 if meant == called else 401), answer.text
    if meant != called:
        challenge = answer.headers["www-authenticate"]
        assert 'error="invalid_token"' in challenge
        assert f"resource={BASE_URL}{called}" in challenge


async def test_a_closing_slash_of_the_audience_does_not_matter(guest_app, issuer, caller):
    assert await status(caller(guest_app, issuer.token(aud=f"{V1}/"))) == 200


NOW = time.time()
WRONG = {
    "another issuer": {"iss": "https://evil.example"},
    "the issuer with a slash": {"iss": "slash"},
    "no issuer": {"iss": None},
    "no audience": {"aud": None},
    "another audience": {"aud": "https://evil.example/v1"},
    "the origin as audience": {"aud": BASE_URL},
    "a longer audience": {"aud": f"{V1}/more"},
    "an audience that is no text": {"aud": {V1: True}},
    "no end": {"exp": None},
    "an end that is no number": {"exp": "tomorrow"},
    "an end that is true": {"exp": True},
    "expired": {"exp": NOW - LEEWAY_SECONDS - 5},
    "not valid yet": {"nbf": NOW + 86_400},
    "issued in the future": {"iat": NOW + 86_400},
    "no subject": {"sub": None},
    "an empty subject": {"sub": ""},
    "a subject that is a number": {"sub": 7},
    "a subject that is too long": {"sub": "x" * 256},
    "an ID token": {"at_hash": "abc"},
}


@pytest.mark.parametrize("claims", WRONG.values(), ids=WRONG.keys())
@proves("ISSUER-TOKEN", "ISSUER-AUDIENCE")
async def test_a_token_with_a_wrong_claim_is_refused(guest_app, issuer, caller, claims):
    if claims.get("iss") == "slash":
        claims = {"iss": f"{issuer.url}/"}
    assert await status(caller(guest_app, issuer.token(**{"aud": V1} | claims))) == 401


def test_times_that_are_no_times_are_none():
    good = {"sub": "a", "exp": 10}
    assert read_claims(good) is not None
    for value in (math.nan, math.inf, -1, 1e13, [10], None):
        assert read_claims(good | {"exp": value}) is None
        assert read_claims(good | {"nbf": value}) is None


async def test_clocks_may_differ_by_half_a_minute(guest_app, issuer, caller):
    soon = time.time() + LEEWAY_SECONDS - 10
    assert await status(caller(guest_app, issuer.token(aud=V1, nbf=soon, iat=soon))) == 200
    assert await status(caller(guest_app, issuer.token(aud=V1, exp=time.time() - LEEWAY_SECONDS + 10))) == 200


@proves("ISSUER-ALGORITHMS")
async def test_nobody_but_the_issuer_can_sign(guest_app, issuer, caller):
    good = issuer.token(aud=V1)
    head, claims, signature = good.split(".")
    public = issuer.keys[0][1]
    kid = public.kid
    jwk = OctKey.import_key(json.dumps(public.as_dict(private=False)))
    confused = f"{encoded({'alg': 'HS256', 'kid': kid})}.{claims}"
    by_pem = hmac.digest(public.as_pem(private=False), confused.encode(), "sha256")
    strange = RSAKey.generate_key(2048, {"kid": kid})
    own = {"alg": "RS256", "jwk": strange.as_dict(private=False)}
    forged = [
        f"{encoded({'alg': 'none', 'kid': kid})}.{claims}.",
        f"{encoded({'alg': 'None', 'kid': kid})}.{claims}.{signature}",
        f"{confused}.{base64.urlsafe_b64encode(by_pem).decode().rstrip('=')}",
        issuer.token({"alg": "HS256"}, jwk, aud=V1),
        issuer.token(None, strange, aud=V1),
        issuer.token(own, strange, aud=V1),
        issuer.token({"jku": "https://evil.example/jwks"}, strange, aud=V1),
        f"{head}.{encoded(json.loads(base64.urlsafe_b64decode(claims + '==')) | {'sub': 'root'})}.{signature}",
        f"{head}.{claims}.{signature[:-4]}AAAA",
        f"{head}.{claims}.",
        f"{head}.{claims}",
        f"{encoded({'alg': 'PS256', 'kid': kid, 'typ': 'at+jwt'})}.{claims}.{signature}",
    ]
    assert await status(caller(guest_app, good)) == 200
    for token in forged:
        assert await status(caller(guest_app, token)) == 401, token


@pytest.mark.parametrize(
    "header",
    [{"typ": "JWE"}, {"typ": "dpop+jwt"}, {"typ": "logout+jwt"}, {"b64": True, "crit": ["b64"]}],
    ids=str,
)
async def test_a_jwt_of_another_kind_is_no_access_token(guest_app, issuer, caller, header):
    assert await status(caller(guest_app, issuer.token(header, aud=V1))) == 401


@pytest.mark.parametrize("header", [{"typ": "JWT"}, {"typ": None}, {"x5t": "abc", "vendor": "x"}], ids=str)
async def test_what_issuers_put_into_headers_does_no_harm(guest_app, issuer, caller, header):
    assert await status(caller(guest_app, issuer.token(header, aud=V1))) == 200


@pytest.mark.parametrize("token", ["", "x", "..", "a.b.c", "ctxa_" + "x" * 43, "e" * 20_000, f"{'W1tb' * 3000}.a.b"])
async def test_garbage_is_refused(guest_app, caller, token):
    assert await status(caller(guest_app, token)) == 401


async def test_a_key_works_beside_the_issuer(guest_app, alice, caller):
    headers = {"authorization": alice.client.headers["authorization"]}
    async with caller(guest_app, "") as client:
        assert (await client.get("/v1/user/me", headers=headers)).status_code == 200


@proves("ISSUER-METADATA")
async def test_every_resource_names_the_issuer_and_the_built_in_server_is_gone(guest_app, issuer, caller):
    async with caller(guest_app, "") as client:
        for path in ("", *PATHS):
            found = (await client.get(f"/.well-known/oauth-protected-resource{path}")).json()
            assert found["authorization_servers"] == [issuer.url]
        for path in ("/.well-known/oauth-authorization-server", "/oauth/authorize?client_id=x", "/dashboard/apps"):
            assert (await client.get(path)).status_code == 404
        for path in ("/oauth/token", "/oauth/register"):
            assert (await client.post(path, data={"a": "b"})).status_code == 404
