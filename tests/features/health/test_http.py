"""Liveness and readiness."""

from __future__ import annotations

from tests.support.service import client_of, serving


async def test_liveness_asks_nothing(http):
    answer = await http.get("/livez")
    assert (answer.status_code, answer.text) == (200, "ok\n")


async def test_readiness_tells_the_state_of_the_stores(http):
    answer = await http.get("/readyz")
    report = answer.json()
    assert answer.status_code == 200
    assert (report["ready"], report["database"], report["redis"], report["draining"]) == (True, "ok", "ok", False)
    assert report["eventWatermarkSeconds"] >= 0


async def test_a_process_that_drains_is_not_ready(settings):
    async with serving(settings) as app:
        app.state.readiness.draining = True
        answer = await client_of(app).get("/readyz")
    assert (answer.status_code, answer.json()["draining"]) == (503, True)


async def test_another_schema_is_not_ready(settings):
    async with serving(settings) as app:
        app.state.readiness.head = "another"
        assert (await client_of(app).get("/readyz")).status_code == 503


async def test_without_redis_it_is_degraded_and_ready(settings):
    async with serving(settings.model_copy(update={"redis_url": "redis://127.0.0.1:1/0"})) as app:
        answer = await client_of(app).get("/readyz")
    assert (answer.status_code, answer.json()["redis"][:4]) == (200, "away")
