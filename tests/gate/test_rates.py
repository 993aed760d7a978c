"""Rate limits: exact over all instances, per user and family, and never the cause of a failure."""

from __future__ import annotations

import asyncio
import time

import pytest
import pytest_asyncio

from app.gate.limiter import Limiter
from app.gate.policy import Limit, Plans, Rate
from app.kit.ids import new_id
from app.store import redis
from tests.contract.requirements import proves
from tests.support.factories import Make
from tests.support.service import serving

LIMIT = Limit(5, 1)


@pytest_asyncio.fixture
async def limiters(settings):
    """Two instances' limiters on one Valkey."""
    clients = [redis.connect(settings.redis_url) for _ in range(2)]
    yield [Limiter(client) for client in clients]
    for client in clients:
        await client.aclose()


@pytest_asyncio.fixture(scope="module")
async def small(settings, database, tmp_path_factory):
    """Two instances whose plan allows a few calls a second."""
    plans = tmp_path_factory.mktemp("plans") / "plans.toml"
    plans.write_text(
        "[self-hosted]\nwindow_seconds = 60\nrates = { scrape = 2, api = 3, readonly = 4 }\n", encoding="utf-8"
    )
    given = settings.model_copy(update={"plans_file": plans})
    async with serving(given) as one, serving(given) as two:
        yield Make(one, database), Make(two, database)


@proves("RATE-EXACT")
async def test_no_window_ever_holds_more_calls_than_the_limit(limiters):
    subject, allowed = str(new_id()), []
    stop = time.monotonic() + 3.2

    async def hammer(limiter):
        while time.monotonic() < stop:
            before = time.monotonic()
            state = await limiter.spend(subject, Rate.API, LIMIT)
            if state.allowed:
                allowed.append((before, time.monotonic()))
            await asyncio.sleep(0.003)

    await asyncio.gather(*[hammer(limiter) for limiter in limiters * 2])
    allowed.sort()
    assert len(allowed) >= 3 * LIMIT.count
    for first, later in zip(allowed, allowed[LIMIT.count :], strict=False):
        assert later[1] - first[0] >= LIMIT.seconds, "six calls in one second"


@proves("RATE-EXACT")
async def test_a_burst_over_two_instances_passes_exactly_the_limit(limiters):
    subject = str(new_id())
    states = await asyncio.gather(*[limiter.spend(subject, Rate.API, Limit(7, 60)) for limiter in limiters * 10])
    assert sorted(state.remaining for state in states if state.allowed) == list(range(7))
    refused = [state for state in states if not state.allowed]
    assert len(refused) == 13
    assert all(1 <= state.reset_seconds <= 60 for state in refused)


async def test_a_refused_call_is_not_counted(limiters):
    subject = str(new_id())
    for _ in range(50):
        last = await limiters[0].spend(subject, Rate.API, Limit(2, 1))
    assert not last.allowed
    async with asyncio.timeout(3):
        while not (await limiters[1].spend(subject, Rate.API, Limit(2, 1))).allowed:  # noqa: ASYNC110  Redis tells no event
            await asyncio.sleep(0.02)


async def test_keys_in_redis_expire(limiters, settings):
    subject = str(new_id())
    await limiters[0].spend(subject, Rate.API, LIMIT)
    client = redis.connect(settings.redis_url)
    assert 0 < await client.pttl(f"rate:{{{subject}}}:api") <= 2100
    await client.aclose()


async def test_a_call_that_is_given_back_is_not_counted(limiters):
    for limiter in (limiters[0], Limiter(None)):
        subject = str(new_id())
        for remaining, counts in ((1, False), (1, False), (1, True), (0, True)):
            assert (await limiter.spend(subject, Rate.API, Limit(2, 60))).remaining == remaining
            if not counts:
                await limiter.give_back(subject, Rate.API)
                await limiter.give_back(str(new_id()), Rate.API)
            await limiter.spend(subject, Rate.READONLY, Limit(9, 60))


async def test_a_flushed_script_cache_is_no_trouble(limiters, settings):
    subject = str(new_id())
    await limiters[0].spend(subject, Rate.API, LIMIT)
    client = redis.connect(settings.redis_url)
    await client.script_flush()
    await client.aclose()
    assert (await limiters[0].spend(subject, Rate.API, LIMIT)).remaining == 3


@proves("ENV-RATE")
async def test_headers_tell_limit_remaining_and_reset_on_success_and_refusal(small, alice):
    client = small[0].client(alice.key)
    remaining = []
    for _ in range(5):
        answer = await client.get("/v1/user/me")
        assert answer.headers["x-ratelimit-limit"] == "4"
        assert 1 <= int(answer.headers["x-ratelimit-reset"]) <= 60
        remaining.append((answer.status_code, answer.headers["x-ratelimit-remaining"]))
    assert remaining == [(200, "3"), (200, "2"), (200, "1"), (200, "0"), (429, "0")]
    assert answer.headers["retry-after"] == answer.headers["x-ratelimit-reset"]
    assert answer.json()["error"]["details"] == {"limit": 4}


@proves("ENV-RATE", "ERR-429")
async def test_a_spent_rate_over_mcp_tells_the_same_in_headers(small):
    make, _ = small
    client = (await make.user()).client
    tool = {"method": "tools/call", "params": {"name": "list_documents", "arguments": {}}}
    resource = {"method": "resources/read", "params": {"uri": "contextrepo://documents/1"}}
    for _ in range(4):
        await client.get("/v1/documents")
    for message in (tool, resource):
        sent = {"jsonrpc": "2.0", "id": 1, **message}
        answer = await client.post("/mcp", json=sent, headers={"accept": "application/json"})
        assert "RATE_LIMITED" in answer.text
        assert (answer.headers["x-ratelimit-limit"], answer.headers["x-ratelimit-remaining"]) == ("4", "0")
        assert answer.headers["retry-after"] == answer.headers["x-ratelimit-reset"]


@proves("RATE-USER")
async def test_all_keys_and_instances_share_the_limit_of_a_user(small, alice, make):
    other = await make.key(alice)
    clients = [instance.client(key) for instance in small for key in (alice.key, other)]
    statuses = [(await client.get("/v1/documents")).status_code for client in clients * 2]
    assert statuses == [200] * 4 + [429] * 4


@proves("RATE-FAMILY")
async def test_families_are_counted_apart(small, alice):
    client = small[0].client(alice.key)
    for _ in range(4):
        await client.get("/v1/documents")
    assert (await client.get("/v1/documents")).status_code == 429
    body = {"title": "T", "content": "c"}
    assert [(await client.post("/v1/documents", json=body)).status_code for _ in range(4)] == [201, 201, 201, 429]


async def test_users_are_counted_apart(small, alice, bob):
    for _ in range(5):
        await small[0].client(alice.key).get("/v1/documents")
    assert (await small[0].client(bob.key).get("/v1/documents")).status_code == 200


async def test_what_is_refused_before_the_rate_is_not_counted(small, alice, make):
    narrow = small[0].client(await make.key(alice, scopes=("prompts.read",)))
    for _ in range(6):
        assert (await narrow.get("/v1/documents")).status_code == 403
    assert (await small[0].client(alice.key).get("/v1/documents")).headers["x-ratelimit-remaining"] == "3"


@proves("RATE-REDIS")
@pytest.mark.parametrize("url", ["", "redis://127.0.0.1:1/0"], ids=["off", "away"])
async def test_without_redis_limits_hold_in_the_process_and_nothing_fails(settings, database, alice, tmp_path, url):
    plans = tmp_path / "plans.toml"
    plans.write_text(
        "[self-hosted]\nwindow_seconds = 60\nrates = { scrape = 2, api = 3, readonly = 4 }\n", encoding="utf-8"
    )
    async with serving(settings.model_copy(update={"plans_file": plans, "redis_url": url})) as app:
        client = Make(app, database).client(alice.key)
        answers = [await client.get("/v1/documents") for _ in range(6)]
    assert [answer.status_code for answer in answers] == [200] * 4 + [429] * 2
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 61


@proves("RATE-REDIS")
async def test_a_frozen_redis_that_still_accepts_connections_holds_nobody_up():
    accepted = asyncio.Event()

    async def say_nothing(reader, writer):
        accepted.set()
        await reader.read()
        writer.close()

    async with await asyncio.start_server(say_nothing, "127.0.0.1", 0) as frozen:
        client = redis.connect(f"redis://127.0.0.1:{frozen.sockets[0].getsockname()[1]}/0")
        limiter, started = Limiter(client), time.monotonic()
        async with asyncio.timeout(5):
            states = await asyncio.gather(*[limiter.spend("someone", Rate.API, Limit(7, 60)) for _ in range(20)])
        assert accepted.is_set()
        assert sum(state.allowed for state in states) == 7
        assert time.monotonic() - started < 4 * redis.TIMEOUT_SECONDS
        await limiter.aclose()
        await client.aclose()


async def test_a_limit_of_nothing_refuses_and_does_not_fail(limiters):
    for limiter in (limiters[0], Limiter(None)):
        state = await limiter.spend(str(new_id()), Rate.API, Limit(0, 60))
        assert not state.allowed
        assert state.reset_seconds >= 1


@proves("RATE-NUMBERS")
def test_the_hosted_plans_have_the_published_limits():
    plans = Plans.load().plans
    for name in ("trial", "Pro", "Pro Max", "Ultimate"):
        counts = {family: (limit.count, limit.seconds) for family, limit in plans[name].rates.items()}
        assert counts == {Rate.SCRAPE: (10, 60), Rate.API: (100, 60), Rate.READONLY: (120, 60)}
