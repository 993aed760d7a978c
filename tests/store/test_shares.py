"""Slow calls of one workspace leave connections for the others."""

from __future__ import annotations

import asyncio
import contextlib
import time

import pytest

from app.kit.ids import new_id
from app.store import postgres, shares


async def _slow(database, open_block, workspace_id):
    with contextlib.suppress(TimeoutError):
        async with open_block(database)(workspace_id) as tx:
            await tx.fetchval("SELECT pg_sleep(1.5)")


@pytest.mark.parametrize("kind", ["snapshot", "tx"])
async def test_a_workspace_that_asks_for_every_connection_holds_up_nobody_else(settings, kind):
    def open_block(database):
        return getattr(database, kind)

    async with postgres.connected(settings) as database:
        greedy = new_id()
        flood = [asyncio.create_task(_slow(database, open_block, greedy)) for _ in range(4 * settings.pool_size)]
        await asyncio.sleep(0.2)
        started = time.monotonic()
        async with open_block(database)(new_id()) as tx:
            assert await tx.fetchval("SELECT 1") == 1
        assert time.monotonic() - started < 1
        await asyncio.gather(*flood)


async def test_beyond_its_share_a_workspace_waits_and_then_gives_up(monkeypatch):
    monkeypatch.setattr(shares, "SECONDS", 0.1)
    kept, workspace = shares.Shares(4), new_id()
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(3):
            await stack.enter_async_context(kept.held(workspace))
        with pytest.raises(TimeoutError):
            await stack.enter_async_context(kept.held(workspace))
        await stack.enter_async_context(kept.held(new_id()))
    async with kept.held(workspace):
        pass
    assert not kept._shares, "nothing is remembered of workspaces that are idle"


async def test_a_pool_of_one_connection_still_serves():
    async with shares.Shares(1).held(new_id()):
        pass
