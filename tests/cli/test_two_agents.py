"""The story of two agents on one document, as people run it."""

from __future__ import annotations

import asyncio

import pytest

from app.cli.client import Target
from tests.clients.two_agents import story
from tests.contract.requirements import proves


@pytest.mark.prove
@proves("MCP-ALL-LEASE", "L4", "COORD-RECEIPT")
async def test_a_paused_agent_loses_its_lease_and_nothing_is_lost(listening, alice):
    steps = await asyncio.to_thread(lambda: list(story(Target(listening[0], alice.key))))
    refused = {words.split(":")[0]: answer["error"]["reason"] for words, answer in steps if "error" in answer}
    assert refused == {
        "ben wants it too": "LEASE_HELD",
        "ann wakes up and writes under her old lease, on the new revision": "LEASE_LOST",
        "ann wants the lease while ben has it": "LEASE_HELD",
    }
    assert steps[-1][1]["data"]["content"] == "# Log\nann: first\nben: second\nann: third\n"
    assert steps[-1][1]["data"]["revision"] == 4
