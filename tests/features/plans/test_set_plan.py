"""Giving a workspace a plan."""

from __future__ import annotations

import pytest

from app.features.plans import service
from app.gate.policy import Plans
from app.kit.errors import InvalidRequest, NotFound
from tests.contract.requirements import proves

PLANS = Plans.load()


async def plan_of(make, user):
    answer = await make.client(await make.key(user)).get("/v1/user/me")
    return answer.json()["data"]["plan"]


@proves("PLAN-SET")
async def test_a_trial_holds_until_its_end(alice, make, database):
    said = await service.set_plan(database, PLANS, alice.email.upper(), "trial", 14)
    assert (said["plan"], said["workspaceId"]) == ("trial", str(alice.workspace_id))
    assert said["trialEndsAt"] is not None
    assert (await plan_of(make, alice))["trial"] is True
    await make.plan(alice, "trial", lapsed=True)
    assert await plan_of(make, alice) is None


@proves("PLAN-SET")
async def test_another_plan_replaces_it_and_none_ends_it(alice, make, database):
    await service.set_plan(database, PLANS, alice.email, "trial", 14)
    said = await service.set_plan(database, PLANS, alice.email, "Pro", None)
    assert said["trialEndsAt"] is None
    assert (await plan_of(make, alice))["name"] == "Pro"
    await service.set_plan(database, PLANS, alice.email, "none", None)
    client = make.client(await make.key(alice))
    assert (await client.get("/v1/documents")).json()["error"]["reason"] == "PLAN_REQUIRED"


async def test_what_is_unknown_is_refused(alice, database):
    with pytest.raises(InvalidRequest, match="Pro Max"):
        await service.set_plan(database, PLANS, alice.email, "Gold", None)
    with pytest.raises(NotFound):
        await service.set_plan(database, PLANS, "nobody@example.test", "Pro", None)
