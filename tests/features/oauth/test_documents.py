"""Clients whose id is the address of their description."""

from __future__ import annotations

import json
import secrets

import httpx2
import pytest

from app.features.oauth.provider import documents
from app.features.oauth.provider.oauth import OAuth
from app.store.fetcher import Fetched, FetchRefused
from tests.contract.requirements import proves
from tests.features.oauth.flow import LOOPBACK, REDIRECT, Flow


class Web:
    """The web of the tests: documents by address, and how often each was fetched."""

    def __init__(self):
        self.pages = {}
        self.asked = []

    async def get(self, url, bounds):
        self.asked.append(url)
        assert bounds.redirects == 0
        assert bounds.max_bytes == 5 * 1024
        assert bounds.schemes == {"https"}
        if url not in self.pages:
            raise FetchRefused
        body, headers = self.pages[url]
        return Fetched(url, "application/json", httpx2.Headers(headers), json.dumps(body).encode())

    def publish(self, url=None, headers=None, **changes):
        url = url or f"https://app-{secrets.token_hex(4)}.example/client.json"
        body = {"client_id": url, "client_name": "Documented", "redirect_uris": [REDIRECT]} | changes
        self.pages[url] = ({name: value for name, value in body.items() if value is not None}, headers or {})
        return url


@pytest.fixture
def web(app, other_app, monkeypatch):
    made = Web()
    for instance in (app, other_app):
        monkeypatch.setattr(instance.state.gate.get(OAuth)._documents, "_fetcher", made)
        monkeypatch.setattr(instance.state.gate.get(OAuth)._documents, "_failed", {})
    return made


@proves("OAUTH-DOCUMENT")
async def test_a_described_client_gets_tokens(person, web):
    flow = Flow(person.http, client_id=web.publish())
    page = await flow.open()
    assert page.status_code == 200, page.text
    assert flow.client_id.split("/")[2] in page.text
    assert "Documented" in page.text
    tokens = await flow.tokens()
    assert (await flow.refresh(tokens["refresh_token"])).status_code == 200
    assert len(web.asked) == 1


async def test_the_port_of_its_loopback_address_may_differ(person, web):
    flow = Flow(person.http, client_id=web.publish(redirect_uris=["http://127.0.0.1/callback"]), redirect=LOOPBACK)
    page = await flow.open()
    assert "since the app has no address elsewhere" in page.text
    assert (await flow.tokens())["access_token"]


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": "https://other.example/client.json"},
        {"client_id": None},
        {"client_name": None},
        {"redirect_uris": None},
        {"redirect_uris": ["http://evil.example/"]},
        {"token_endpoint_auth_method": "client_secret_post"},
        {"client_secret": "x"},
        {"grant_types": ["client_credentials"]},
    ],
)
async def test_a_document_that_is_wrong_makes_no_client(person, web, changes):
    url = f"https://app-{secrets.token_hex(4)}.example/client.json"
    web.publish(url, **changes)
    assert (await Flow(person.http, client_id=url).open()).status_code == 400


@pytest.mark.parametrize(
    "client_id",
    [
        "https://app.example",
        "https://app.example/",
        "https://user@app.example/client",
        "https://app.example/client#x",
        "https://app.example/a/../client",
        "https://app.example/%2e%2e/client",
        "https://localhost/client",
        "https://app.example\\@evil.example/client",
        "https://app.example/cl ient",
    ],
)
async def test_an_id_that_is_no_proper_address_is_not_fetched(person, web, client_id):
    web.publish(client_id)
    assert (await Flow(person.http, client_id=client_id).open()).status_code == 400
    assert web.asked == []


async def test_a_failure_is_remembered_for_a_moment(person, web, monkeypatch):
    url = f"https://app-{secrets.token_hex(4)}.example/client.json"
    flow = Flow(person.http, client_id=url)
    for _ in range(3):
        assert (await flow.open()).status_code == 400
    assert len(web.asked) == 1
    monkeypatch.setattr(documents, "_FAILED_SECONDS", 0.0)
    web.publish(url)
    clock = documents.time.monotonic() + 60
    monkeypatch.setattr(documents.time, "monotonic", lambda: clock)
    assert (await flow.open()).status_code == 200


@pytest.mark.parametrize(
    ("cache_control", "seconds"),
    [("max-age=10", 300), ("max-age=7200", 7200), ("public, max-age=999999", 86_400), ("no-store", 300), ("", 3600)],
)
async def test_a_document_is_kept_as_long_as_it_says_within_bounds(person, web, sql, cache_control, seconds):
    url = web.publish(headers={"cache-control": cache_control})
    await Flow(person.http, client_id=url).open()
    left = await sql.fetchval(
        "SELECT extract(epoch FROM expires_at - clock_timestamp()) FROM oauth_clients WHERE client_id = $1", url
    )
    assert seconds - 20 < left <= seconds


async def test_a_stale_document_is_read_again_at_consent_and_good_enough_for_a_refresh(person, web, sql):
    url = web.publish()
    flow = Flow(person.http, client_id=url)
    tokens = await flow.tokens()
    await sql.execute("UPDATE oauth_clients SET expires_at = clock_timestamp() WHERE client_id = $1", url)
    del web.pages[url]
    assert (await flow.refresh(tokens["refresh_token"])).status_code == 200
    assert (await flow.open()).status_code == 400
    assert len(web.asked) == 2


async def test_every_process_knows_a_document_that_one_fetched(person, web, other_app, signed_in, people):
    url = web.publish()
    await Flow(person.http, client_id=url).open()
    elsewhere = await signed_in(await people.user(), on=other_app)
    assert (await Flow(elsewhere.http, client_id=url).open()).status_code == 200
    assert len(web.asked) == 1


async def test_a_private_address_is_never_fetched(person, app, monkeypatch):
    async def private(host, port):
        return ["127.0.0.1"]

    monkeypatch.setattr(app.state.gate.get(OAuth)._documents._fetcher, "_resolve", private)
    url = f"https://app-{secrets.token_hex(4)}.example/client.json"
    assert (await Flow(person.http, client_id=url).open()).status_code == 400
