"""Wrong credentials are limited by address, on every wire; right ones go on."""

from __future__ import annotations

import asyncio
import secrets

import pytest

from app.gate import guesses
from app.gate.policy import Limit
from tests.contract.requirements import proves
from tests.edge.mcp.wire import BOTH, LEGACY_ERA
from tests.support.service import client_of

WRONG = ["API-Key gm_aaaaaaaaaaaaaaaa_bbbb", "Bearer ctxa_wrong", "Bearer x.y.z", "Basic eDp5", "nonsense"]


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Five wrong credentials a minute."""
    monkeypatch.setattr(guesses, "LIMIT", Limit(5, 60))


def an_address():
    return f"198.19.{secrets.randbelow(256)}.{secrets.randbelow(256)}"


@pytest.fixture
def place():
    """An address that nobody else has."""
    return an_address()


async def ask(app, place, authorization, path="/v1/user/me"):
    async with client_of(app, authorization, **{"x-forwarded-for": place}) as client:
        if path.startswith("/v1"):
            return await client.get(path)
        return await LEGACY_ERA.send(client, "tools/call", {"name": "get_user_info", "arguments": {}}, path=path)


@proves("GUESS-LIMIT")
@pytest.mark.parametrize("path", ["/v1/user/me", "/mcp", "/grok-mcp"])
async def test_wrong_credentials_of_one_address_end_in_429(service, alice, place, path):
    for wrong in WRONG:
        assert (await ask(service, place, wrong, path)).status_code == 401
    answer = await ask(service, place, WRONG[0], path)
    assert answer.status_code == 429
    assert 1 <= int(answer.headers["retry-after"]) <= 60
    assert "www-authenticate" not in answer.headers
    assert (await ask(service, place, WRONG[1], path)).status_code == 429
    assert (await ask(service, an_address(), WRONG[0], path)).status_code == 401


@proves("GUESS-LIMIT")
async def test_a_guess_is_not_even_looked_at_and_what_was_good_before_works_on(service, alice, make, place):
    known, right = f"API-Key {alice.key}", f"API-Key {await make.key(alice)}"
    assert (await ask(service, place, known)).status_code == 200
    for _ in range(6):
        await ask(service, place, WRONG[0])
    assert (await ask(service, place, right)).status_code == 429
    assert (await ask(service, place, known)).status_code == 200
    assert (await ask(service, an_address(), right)).status_code == 200


@proves("GUESS-LIMIT")
async def test_all_instances_count_together(service, twin, place):
    for number in range(5):
        assert (await ask((service, twin)[number % 2], place, WRONG[0])).status_code == 401
    for app in (service, twin):
        assert (await ask(app, place, WRONG[0])).status_code == 429


@proves("GUESS-LIMIT")
async def test_right_credentials_and_none_cost_no_message(service, alice, place, monkeypatch):
    counted = []
    spend = service.state.gate._limiter.spend

    async def noted(subject, family, limit):
        counted.append(subject)
        return await spend(subject, family, limit)

    monkeypatch.setattr(service.state.gate._limiter, "spend", noted)
    assert (await ask(service, place, f"API-Key {alice.key}")).status_code == 200
    assert (await ask(service, place, None)).status_code == 401
    assert counted == [str(alice.id)]
    await ask(service, place, WRONG[0])
    assert counted[1:] == [f"address:{place}"]


async def test_an_address_may_try_again_when_its_time_is_over(service, place, monkeypatch):
    monkeypatch.setattr(guesses, "LIMIT", Limit(1, 1))
    assert (await ask(service, place, WRONG[0])).status_code == 401
    assert (await ask(service, place, WRONG[0])).status_code == 429
    async with asyncio.timeout(5):
        while (await ask(service, place, WRONG[0])).status_code != 401:  # noqa: ASYNC110  Redis tells no event
            await asyncio.sleep(0.1)
    assert place not in service.state.gate._guesses._spent


async def test_a_forwarded_address_counts_only_from_a_trusted_proxy(service, place):
    async with client_of(service, WRONG[0], **{"x-forwarded-for": f"1.2.3.4, {place}"}) as client:
        for _ in range(5):
            await client.get("/v1/user/me")
    async with client_of(service, WRONG[0], **{"x-forwarded-for": f"5.6.7.8, {place}"}) as client:
        assert (await client.get("/v1/user/me")).status_code == 429


@pytest.mark.parametrize("era", BOTH, ids=["legacy", "modern"])
async def test_over_mcp_the_refusal_is_a_well_formed_message(service, place, era):
    for _ in range(6):
        await ask(service, place, WRONG[0])
    async with client_of(service, WRONG[0], **{"x-forwarded-for": place}) as client:
        answer = await era.send(client, "tools/list", {}, message_id="seven")
    assert answer.status_code == 429
    assert (answer.json()["id"], answer.json()["error"]["data"]["reason"]) == ("seven", "RATE_LIMITED")
