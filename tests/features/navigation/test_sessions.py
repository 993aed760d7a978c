"""Search sessions while Redis is away: searches go on, and only repeat themselves."""

from __future__ import annotations

import pytest_asyncio

from tests.contract.requirements import proves
from tests.support.factories import Make
from tests.support.service import serving


@pytest_asyncio.fixture(scope="module", params=["", "redis://127.0.0.1:1/0"], ids=["none", "down"])
async def without_redis(request, settings, database):
    """Factories of an instance whose Redis is not there."""
    async with serving(settings.model_copy(update={"redis_url": request.param})) as app:
        yield Make(app, database)


@proves("PD-31-SESSION")
async def test_searches_go_on_without_sessions(without_redis):
    user = await without_redis.user()
    await without_redis.document(user.client, content="A lamp burns oil.")
    await without_redis.indexed(user)
    for sent in ({"query": "lamp"}, {"query": "lamp", "sessionId": "01a22a24-f484-7962-9255-9cc8ec19e81a"}):
        answer = await user.client.post("/v1/pd/search", json=sent)
        assert answer.status_code == 200, answer.text
        data = answer.json()["data"]
        assert len(data["results"]) == 1
        assert "sessionId" not in data["meta"]


@proves("PD-30")
async def test_a_session_that_cannot_be_kept_is_a_passing_trouble(without_redis):
    user = await without_redis.user()
    answer = await user.client.post("/v1/pd/session", json={})
    assert (answer.status_code, answer.json()["error"]["reason"]) == (503, "UNAVAILABLE")
    assert answer.headers["retry-after"]
