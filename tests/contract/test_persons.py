"""Each operation that only a signed-in person may call, against each kind of caller that must be refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.requirements import proves
from tests.support.examples import example, id_fields, listed, make_id, never_issued
from tests.support.faces import PERSON_FACES, label
from tests.support.rows import checksum

each = pytest.mark.parametrize("face", PERSON_FACES, ids=label)
each_write = pytest.mark.parametrize("face", [f for f in PERSON_FACES if f.operation.writes], ids=label)
each_with_id = pytest.mark.parametrize("face", [f for f in PERSON_FACES if id_fields(f)], ids=label)


@each
@proves("PERSON-SESSION", "PERSON-PLAN")
async def test_without_a_plan_a_signed_in_person_sees_and_takes_away_and_makes_nothing(face, alice, make):
    args = await example(face, make, alice)
    await make.plan(alice, None)
    outcome = await face.call(await make.browser(alice), args)
    if face.operation.plan_exempt:
        assert outcome.status < 300, outcome.text
    else:
        assert (outcome.status, outcome.reason) == (402, "PLAN_REQUIRED")


@proves("PERSON-PLAN")
def test_what_a_person_makes_needs_a_plan():
    assert {face.operation.name for face in PERSON_FACES if not face.operation.plan_exempt} == {
        "invites.create",
        "keys.create",
        "keys.rotate",
        "links.create",
        "workspaces.create",
        "workspaces.rename",
    }


@each
@proves("PERSON-KEY")
async def test_a_key_with_every_scope_is_refused_and_changes_nothing(face, alice, make, sql):
    args = await example(face, make, alice)
    before = await checksum(sql, alice.workspace_id)
    outcome = await face.call(alice.client, args)
    assert (outcome.status, outcome.reason) == (403, "INSUFFICIENT_SCOPE")
    assert await checksum(sql, alice.workspace_id) == before


@each
@proves("PERSON-SESSION")
async def test_without_a_live_session_there_is_a_challenge(face, alice, make):
    args = await example(face, make, alice)
    cookies = {
        "none": None,
        "unknown": "x" * 43,
        "revoked": await make.session(alice, revoked=True),
        "idle": await make.session(alice, idle="14 days 1 s"),
        "old": await make.session(alice, age="90 days 1 s"),
    }
    for name, cookie in cookies.items():
        outcome = await face.call(await make.browser(cookie=cookie), args)
        assert outcome.status == 401, name
        assert "www-authenticate" in outcome.headers
    young = await make.session(alice, age="89 days", idle="13 days 23 h")
    assert (await face.call(await make.browser(cookie=young), args)).status < 300


@each_write
@pytest.mark.parametrize(
    "said",
    [
        {"sec-fetch-site": "cross-site", "origin": "https://evil.test"},
        {"sec-fetch-site": "same-site", "origin": "http://other.service.test"},
        {"sec-fetch-site": "none"},
        {"origin": "https://evil.test"},
        {"origin": "null"},
        {},
    ],
    ids=["cross-site", "same-site", "typed", "origin alone", "null", "nothing"],
)
@proves("PERSON-CROSS-SITE")
async def test_a_write_that_another_sites_page_sends_is_refused(face, said, alice, make):
    args = await example(face, make, alice)
    client = make.client(cookie=f"session={await make.session(alice)}", **said)
    outcome = await face.call(client, args)
    assert (outcome.status, outcome.reason) == (403, "CROSS_SITE")


@each_with_id
@proves("TENANT-404")
async def test_another_persons_id_answers_like_one_that_never_was(face, alice, bob, make):
    theirs: dict[str, Any] = {}
    for name in id_fields(face):
        theirs[name] = await make_id(face, name, make, alice, theirs)
    client = await make.browser(bob)
    for name in id_fields(face):
        args = await example(face, make, bob)
        foreign = await face.call(client, args | {name: theirs[name]})
        never = never_issued(theirs[name])
        absent = await face.call(client, args | {name: never})
        assert foreign.status == 404, f"{name}: {foreign.text}"
        assert foreign.without(*listed(theirs[name])) == absent.without(*listed(never))
    assert (await face.call(client, await example(face, make, bob) | theirs)).status == 404


@each
@proves("TENANT-READ")
async def test_no_answer_holds_anything_of_another_person(face, alice, bob, make):
    await example(face, make, alice)
    outcome = await face.call(await make.browser(bob), await example(face, make, bob))
    assert outcome.status < 300
    assert alice.email not in outcome.text


@each
@proves("ERR-429")
async def test_a_spent_rate_is_refused_with_the_time_to_wait(face, alice, make, strict):
    args = await example(face, make, alice)
    client = await strict.browser(cookie=await make.session(alice))
    await face.call(client, args)
    outcome = await face.call(client, args)
    assert (outcome.status, outcome.reason) == (429, "RATE_LIMITED")
    assert 1 <= int(outcome.headers["retry-after"]) <= 60


async def test_the_cookie_opens_nothing_else(alice, make):
    client = await make.browser(alice)
    assert (await client.get("/v1/documents")).status_code == 401
    assert (await client.post("/v1/documents", json={"title": "T", "content": "c"})).status_code == 401
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_user_info"}}
    answer = await client.post("/mcp", json=message, headers={"accept": "application/json, text/event-stream"})
    assert answer.status_code == 401


async def test_the_cookies_text_is_no_credential_for_programs(alice, make):
    cookie = await make.session(alice)
    for scheme in ("Session", "session", "Bearer", "API-Key"):
        answer = await make.client().get("/v1/keys", headers={"authorization": f"{scheme} {cookie}"})
        assert answer.status_code == 401
