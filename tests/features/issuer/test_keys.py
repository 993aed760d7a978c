"""The issuer's keys: where they are found, how long they are kept, and what an outage or a flood does."""

from __future__ import annotations

import asyncio

import pytest
from joserfc.errors import SecurityWarning
from joserfc.jwk import OctKey, RSAKey

from app.features.issuer import remote
from app.features.issuer.remote import Issuer, metadata_places
from app.kit.errors import Unavailable
from app.store.fetcher import Fetcher
from tests.contract.requirements import proves
from tests.features.issuer.conftest import V1
from tests.support.issuer import little_issuer

JWKS = "/realm/jwks"


@pytest.fixture
def impatient(monkeypatch):
    """The issuer may be asked at any time."""
    monkeypatch.setattr(remote, "AGAIN_SECONDS", 0.0)
    return monkeypatch


async def status(client):
    async with client:
        return (await client.get("/v1/user/me")).status_code


async def found(issuer, kid=None):
    return [key.kid for key in await issuer.find(kid)]


@pytest.mark.parametrize(
    ("issuer", "places"),
    [
        (
            "https://a.example",
            [
                "https://a.example/.well-known/oauth-authorization-server",
                "https://a.example/.well-known/openid-configuration",
            ],
        ),
        (
            "https://a.example/realm/",
            [
                "https://a.example/.well-known/oauth-authorization-server/realm",
                "https://a.example/.well-known/openid-configuration/realm",
                "https://a.example/realm/.well-known/openid-configuration",
            ],
        ),
    ],
)
def test_where_metadata_may_be(issuer, places):
    assert metadata_places(issuer) == places


@pytest.mark.parametrize("number", [0, 1, 2])
async def test_metadata_is_found_in_each_form(number):
    with little_issuer() as little:
        little.place = metadata_places(little.url)[number].removeprefix(little.url.removesuffix("/realm"))
        assert await found(Issuer(little.url, Fetcher())) == [little.keys[0][1].kid]


@proves("ISSUER-METADATA")
async def test_metadata_of_another_issuer_is_not_taken():
    with little_issuer() as little:
        little.metadata["issuer"] = little.url + "/"
        with pytest.raises(Unavailable):
            await Issuer(little.url, Fetcher()).find(None)
        assert JWKS not in little.hits


@proves("ISSUER-KEYS")
async def test_keys_are_asked_for_once_and_kept():
    with little_issuer() as little:
        issuer = Issuer(little.url, Fetcher())
        await asyncio.gather(*(issuer.find(little.keys[0][1].kid) for _ in range(50)))
        assert little.hits[JWKS] == 1


@proves("ISSUER-KEYS")
async def test_a_fresh_key_is_found_at_once_and_the_old_one_ends(changing, fresh_app, caller, impatient):
    old = changing.token(aud=V1)
    assert await status(caller(fresh_app, old)) == 200
    changing.rotate(keep=True)
    assert await status(caller(fresh_app, changing.token(aud=V1))) == 200
    assert await status(caller(fresh_app, changing.token(aud=V1, sub="another"))) == 200
    assert changing.hits[JWKS] == 2
    kid = changing.keys[1][1].kid
    assert changing.keys.pop(1)[1].kid == kid
    impatient.setattr(remote, "FRESH_SECONDS", 0.0)
    resolver = fresh_app.state.gate._resolvers["bearer"]._resolver
    for _ in range(200):
        if not await resolver._issuer.find(kid):
            break
        await asyncio.sleep(0.02)
    assert await resolver(old, V1) is None
    resolver._known = {}


@proves("ISSUER-KEYS")
async def test_made_up_key_ids_do_not_make_the_service_ask_again_and_again(changing, fresh_app, caller):
    assert await status(caller(fresh_app, changing.token(aud=V1))) == 200
    tokens = [changing.token({"kid": f"made up {number}"}, aud=V1) for number in range(50)]
    assert set(await asyncio.gather(*(status(caller(fresh_app, token)) for token in tokens))) == {401}
    assert changing.hits[JWKS] == 1


@proves("ISSUER-KEYS")
async def test_an_outage_of_the_issuer_signs_nobody_out(changing, fresh_app, caller, impatient):
    assert await status(caller(fresh_app, changing.token(aud=V1))) == 200
    changing.away = True
    impatient.setattr(remote, "FRESH_SECONDS", 0.0)
    assert await status(caller(fresh_app, changing.token(aud=V1))) == 200
    unknown = changing.token({"kid": "not seen yet"}, aud=V1)
    assert await status(caller(fresh_app, unknown)) == 503
    impatient.setattr(remote, "STALE_SECONDS", 0.0)
    assert await status(caller(fresh_app, changing.token(aud=V1))) == 503
    changing.away = False
    impatient.setattr(remote, "STALE_SECONDS", 3600.0)
    assert await status(caller(fresh_app, changing.token(aud=V1))) == 200


async def test_an_issuer_that_never_answered_is_503_and_heals(changing, fresh_app, caller, impatient):
    changing.away = True
    async with caller(fresh_app, changing.token(aud=V1)) as client:
        answer = await client.get("/v1/user/me")
    assert answer.status_code == 503
    assert "retry-after" in answer.headers
    changing.away = False
    assert await status(caller(fresh_app, changing.token(aud=V1))) == 200


async def test_a_token_without_a_key_id_is_tried_with_every_key(changing, fresh_app, caller):
    changing.rotate("ES256", keep=True)
    changing.rotate(keep=True)
    assert await status(caller(fresh_app, changing.token({"kid": None}, aud=V1))) == 200


@proves("ISSUER-ALGORITHMS")
async def test_keys_that_cannot_verify_are_left_out():
    with pytest.warns(SecurityWarning):
        weak = RSAKey.generate_key(1024, {"kid": "weak"})
    with little_issuer() as little:
        little.more_keys = [
            weak.as_dict(private=False),
            OctKey.import_key("a secret that everybody reads", {"kid": "symmetric"}).as_dict(private=True),
            little.keys[0][1].as_dict(private=False) | {"kid": "for encryption", "use": "enc"},
            {"kty": "RSA", "kid": "broken", "n": "!", "e": "AQAB"},
            {"kty": "EC", "kid": "off the curve", "crv": "P-256", "x": "AAAA", "y": "AAAA"},
            {"kty": "EC", "kid": "no curve"},
            {"kid": "no kind"},
            "no key",
        ]
        assert await found(Issuer(little.url, Fetcher())) == [little.keys[0][1].kid]


@proves("ISSUER-ALGORITHMS")
async def test_a_key_for_one_algorithm_verifies_no_other(changing, fresh_app, caller):
    changing.rotate("RS256")
    key = changing.keys[0][1]
    changing.more_keys = [key.as_dict(private=False) | {"kid": "for RS512", "alg": "RS512"}]
    assert await status(caller(fresh_app, changing.token({"kid": "for RS512", "alg": "RS512"}, aud=V1))) == 200
    assert await status(caller(fresh_app, changing.token({"kid": "for RS512", "alg": "RS256"}, aud=V1))) == 401


@proves("FETCH-PUBLIC", "ISSUER-KEYS")
@pytest.mark.parametrize("path", ["/realm/jwks", "/elsewhere"])
async def test_the_operators_trust_is_for_the_issuers_own_origin(path):
    with little_issuer() as little, little_issuer() as other:
        little.metadata["jwks_uri"] = other.url.removesuffix("/realm") + path
        with pytest.raises(Unavailable):
            await Issuer(little.url, Fetcher()).find(None)
        assert other.hits == {}


async def test_an_issuer_may_be_found_by_a_name_of_this_machine():
    with little_issuer() as little:
        url = little.url.replace("127.0.0.1", "localhost")
        little.metadata |= {"issuer": url, "jwks_uri": f"{url}/jwks"}
        assert await found(Issuer(url, Fetcher())) == [little.keys[0][1].kid]


@pytest.mark.parametrize("listed", [{}, {"keys": "none"}, {"keys": []}], ids=str)
async def test_a_list_without_keys_is_no_answer(listed, monkeypatch):
    with little_issuer() as little:
        answer = little.answer

        def say(method, target, body):
            return (200, listed, "") if target == JWKS else answer(method, target, body)

        monkeypatch.setattr(little, "answer", say)
        with pytest.raises(Unavailable):
            await Issuer(little.url, Fetcher()).find(None)
