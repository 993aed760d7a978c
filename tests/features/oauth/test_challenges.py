"""Refused credentials: a challenge that strict clients can read, and a message for the credential that was sent."""

from __future__ import annotations

import hashlib
import re

import pytest

from app.edge import errors
from app.edge.asgi import printable
from app.kit.errors import Unauthenticated
from tests.contract.requirements import proves
from tests.features.oauth.conftest import browser_of
from tests.features.oauth.flow import ISSUER
from tests.features.oauth.test_resources import PATHS, ask
from tests.support.service import client_of

EXPIRED = "UPDATE oauth_tokens SET expires_at = clock_timestamp() WHERE token_hash = $1"
ALLOWED = set(b" !") | set(range(0x23, 0x5C)) | set(range(0x5D, 0x7F))


def described(answer):
    """The description in the challenge, from the bytes as they go over the wire."""
    raw = dict(answer.headers.raw)[b"www-authenticate"]
    found = re.search(rb'error_description="([^"]*)"', raw)
    assert re.fullmatch(rb'Bearer ([a-z_]+="[^"]*"(, |$))+', raw), raw
    assert all(set(value) <= ALLOWED for value in re.findall(rb'"([^"]*)"', raw)), raw
    return found.group(1).decode() if found else ""


@pytest.fixture
def refused(flow, people, sql, app):
    """A header that is refused, of each kind, with what its message must and must not say."""

    async def make(kind, path):
        if kind == "expired token":
            token = (await flow.tokens(resource=ISSUER + path))["access_token"]
            await sql.execute(EXPIRED, hashlib.sha256(token.encode()).digest())
            return f"Bearer {token}"
        if kind == "another surface's token":
            other = "/v1" if path != "/v1" else "/mcp"
            return f"Bearer {(await flow.tokens(resource=ISSUER + other))['access_token']}"
        if kind == "expired key":
            return f"API-Key {await people.expired_key(await people.user())}"
        if kind == "revoked key":
            await people.revoke(key := await people.key(await people.user()))
            return f"API-Key {key}"
        return {"key as a token": f"Bearer gm_{'0' * 12}_{'x' * 36}", "no key": "API-Key", "basic": "Basic eDp5"}[kind]

    return make


SAID = {
    "expired token": ("access token", "API key"),
    "another surface's token": ("resource=", "API key"),
    "expired key": ("API key", "token"),
    "revoked key": ("API key", "token"),
    "key as a token": ("API-Key", "refresh"),
    "no key": ("API key", "token"),
    "basic": ("scheme", "revoked"),
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("kind", SAID)
@proves("ERR-401-HEADER")
async def test_a_refused_credential_is_told_what_is_wrong_with_it_in_characters_that_all_clients_read(
    refused, app, kind, path
):
    header = await refused(kind, path)
    async with client_of(app, header) as client:
        answer = await ask(client, path)
    right, wrong = SAID[kind]
    assert answer.status_code == 401
    body = answer.json()["error"]
    message = body["message"]
    assert right in message
    assert wrong not in message
    assert described(answer) == message, "the message itself needs no other characters"


@pytest.mark.parametrize("path", PATHS)
@proves("ERR-401-HEADER")
async def test_nobody_and_a_narrow_token_are_challenged_in_the_same_characters(flow, bearer, app, path):
    async with browser_of(app) as nobody:
        assert described(await ask(nobody, path)) == ""
    token = (await flow.tokens(scope="prompts.read", resource=ISSUER + path))["access_token"]
    client = bearer(token)
    if path == "/v1":
        narrow = await client.post("/v1/documents", json={"title": "A", "content": "B"})
        assert narrow.status_code == 403
        assert described(narrow) == ""


async def test_an_ended_session_is_told_to_sign_in(make):
    answer = await (await make.browser(cookie="x" * 43)).get("/v1/keys")
    assert answer.status_code == 401
    assert described(answer) == answer.json()["error"]["message"]
    assert "Sign in" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("message", "sent"),
    [
        ("Send `gm_…`", "Send `gm_...`"),
        ('say "no"\\', "say 'no'/"),
        ("Zoë\r\nset-cookie: a=b", "Zoeset-cookie: a=b"),
        ("日本", ""),
        ("\x7f\x00\u202e", ""),
    ],
)
@proves("ERR-401-HEADER")
async def test_whatever_a_message_holds_the_header_stays_readable(service, alice, monkeypatch, message, sent):
    async def refuse(*_):
        raise Unauthenticated(message, presented=True)

    monkeypatch.setattr(service.state.gate, "authenticate", refuse)
    answer = await alice.client.get("/v1/user/me")
    assert answer.status_code == 401
    assert described(answer) == sent
    assert answer.json()["error"]["message"] == message


@proves("ERR-401-HEADER")
async def test_no_header_of_any_answer_holds_more_than_printable_ascii(service, alice, monkeypatch):
    odd = "…\r\nset-cookie: a=b"
    monkeypatch.setattr(errors, "rate_headers", lambda _: [(b"x-odd", odd.encode()), (b"x-raw", b"\xff\r\n1")])
    answer = await alice.client.get("/v1/user/me")
    assert (answer.status_code, answer.headers["x-odd"], answer.headers["x-raw"]) == (200, printable(odd), "1")
    assert printable(odd) == "...set-cookie: a=b"
    assert "set-cookie" not in answer.headers
