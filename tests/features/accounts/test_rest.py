"""What a caller learns about itself."""

from __future__ import annotations

from tests.contract.requirements import proves


@proves("ME-35")
async def test_the_caller_sees_itself_and_its_rights(alice):
    answer = await alice.client.get("/v1/user/me")
    data = answer.json()["data"]
    assert answer.status_code == 200
    assert (data["id"], data["email"]) == (str(alice.id), alice.email)
    assert data["authMethod"] == "api_key"
    assert data["workspace"] == {"id": str(alice.workspace_id), "name": data["workspace"]["name"], "role": "owner"}
    assert "documents.write" in data["permissions"]
    assert data.keys() >= {"id", "name", "email", "externalId", "authMethod", "permissions", "plan", "usage"}


async def test_usage_counts_documents_that_are_there(alice, make):
    kept = await make.document(alice.client)
    gone = await make.document(alice.client)
    await alice.client.delete(f"/v1/documents/{gone['id']}")
    usage = (await alice.client.get("/v1/user/me")).json()["data"]["usage"]
    assert kept["id"]
    assert usage["documents"]["used"] == 1


async def test_a_narrow_key_shows_its_own_permissions_with_the_implied_ones(alice, make):
    client = make.client(await make.key(alice, scopes=("documents.write",)))
    assert (await client.get("/v1/user/me")).json()["data"]["permissions"] == ["documents.read", "documents.write"]


@proves("ME-35-PLAN")
async def test_a_workspace_without_a_plan_still_answers_who_the_caller_is(alice, make):
    await make.plan(alice, None)
    answer = await make.client(await make.key(alice)).get("/v1/user/me")
    assert answer.status_code == 200
    assert answer.json()["data"]["plan"] is None


@proves("ME-35")
async def test_a_browsers_session_sees_itself_too(alice, make):
    data = (await (await make.browser(alice)).get("/v1/user/me")).json()["data"]
    assert (data["id"], data["authMethod"]) == (str(alice.id), "session")
    assert "documents.write" in data["permissions"]
    ended = await make.browser(cookie=await make.session(alice, revoked=True))
    assert (await ended.get("/v1/user/me")).status_code == 401
    assert (await (await make.browser(alice)).get("/v1/documents")).status_code == 401


@proves("ME-35", "ME-35-PLAN")
async def test_a_session_without_a_plan_sees_itself(alice, make):
    await make.plan(alice, None)
    answer = await (await make.browser(alice)).get("/v1/user/me")
    assert (answer.status_code, answer.json()["data"]["plan"]) == (200, None)


@proves("ME-35")
async def test_a_cookie_beside_a_wrong_key_is_no_way_in(alice, make):
    client = make.client("gm_wrong", cookie=f"session={await make.session(alice)}")
    assert (await client.get("/v1/user/me")).status_code == 401
