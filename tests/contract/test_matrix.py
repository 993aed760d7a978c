"""Each operation, on each wire, against each kind of caller that must be refused. New operations are found here."""

from __future__ import annotations

from typing import Any

import pytest

from app.gate.policy import READ_SCOPES
from tests.conftest import one_call_a_minute
from tests.contract.requirements import proves
from tests.support.examples import example, id_fields, listed, make_id, never_issued
from tests.support.faces import KEY_FACES, RestFace, ToolFace, label
from tests.support.factories import ALL_SCOPES
from tests.support.rows import checksum


def changes(operation):
    """Whether it is a write that reading scopes are not enough for."""
    return operation.writes and not READ_SCOPES.issuperset(operation.scopes)


each_face = pytest.mark.parametrize("face", KEY_FACES, ids=label)
each_write = pytest.mark.parametrize("face", [f for f in KEY_FACES if changes(f.operation)], ids=label)
each_scoped = pytest.mark.parametrize("face", [f for f in KEY_FACES if f.operation.scopes], ids=label)
each_body = pytest.mark.parametrize("face", [f for f in KEY_FACES if isinstance(f, RestFace) and f.has_body], ids=label)
each_with_id = pytest.mark.parametrize("face", [f for f in KEY_FACES if id_fields(f)], ids=label)
each_featured = pytest.mark.parametrize("face", [f for f in KEY_FACES if f.operation.feature], ids=label)
each_planned = pytest.mark.parametrize("face", [f for f in KEY_FACES if not f.operation.plan_exempt], ids=label)

UNKNOWN_KEY = f"gm_{'0' * 12}_{'x' * 36}"


def assert_challenged(outcome, *, presented):
    assert outcome.status == 401
    challenge = outcome.headers["www-authenticate"]
    assert challenge.startswith("Bearer ")
    assert 'resource_metadata="' in challenge
    assert ('error="invalid_token"' in challenge) is presented


def assert_tells_when(face, outcome):
    """A header over HTTP; a tool's result has none, so its message says it."""
    assert "retry" in outcome.body["error"]["message"]
    if isinstance(face, RestFace):
        assert 1 <= int(outcome.headers["retry-after"]) <= 60


def says_absent(face, outcome):
    """404; a tool that deletes takes what is absent for done."""
    done = isinstance(face, ToolFace) and face.tool.when_absent is not None
    removed_nothing = face.operation.name == "collections.remove_items" and '"removed":0' in outcome.text
    return outcome.status == 404 or removed_nothing or (done and outcome.status == 200 and "no-op" in outcome.text)


def insufficient(operation):
    """Scopes that leave out what the operation needs."""
    needed = set(operation.scopes) | {scope.replace(".read", ".write") for scope in operation.scopes}
    return tuple(scope for scope in ALL_SCOPES if scope not in needed)


@each_face
async def test_a_valid_call_succeeds(face, alice, make):
    outcome = await face.call(alice.client, await example(face, make, alice))
    assert outcome.status < 300, outcome.text


@each_face
@proves("ERR-401-NONE")
async def test_no_credential_is_refused_with_a_challenge(face, http, alice, make):
    outcome = await face.call(http, await example(face, make, alice))
    assert_challenged(outcome, presented=False)


@each_face
@pytest.mark.parametrize(
    "authorization",
    [
        f"API-Key {UNKNOWN_KEY}",
        "API-Key gm_short_key",
        "API-Key ",
        "API-Key",
        f"Bearer {UNKNOWN_KEY}",
        "Basic dXNlcjpwYXNz",
        f"Token {UNKNOWN_KEY}",
        "API-Key \u00fcml\u00e4ut".encode("latin-1"),
    ],
    ids=["unknown", "malformed", "empty", "scheme only", "as bearer", "basic", "other scheme", "not ASCII"],
)
@proves("ERR-401-BAD")
async def test_a_credential_that_is_not_valid_is_refused(face, authorization, http, alice, make):
    args = await example(face, make, alice)
    http.headers = [("authorization", authorization)]
    assert_challenged(await face.call(http, args), presented=True)


@each_face
@proves("ERR-401-EXPIRED")
async def test_an_expired_key_is_refused(face, alice, make):
    client = make.client(await make.expired_key(alice))
    assert_challenged(await face.call(client, await example(face, make, alice)), presented=True)


@each_face
@proves("ERR-401-REVOKED")
async def test_a_revoked_key_is_refused(face, alice, make):
    key = await make.key(alice)
    await make.revoke(key)
    outcome = await face.call(make.client(key), await example(face, make, alice))
    assert_challenged(outcome, presented=True)


@each_face
@pytest.mark.parametrize("name", ["api_key", "apiKey", "key", "access_token", "authorization"])
@proves("ERR-401-QUERY")
async def test_a_key_in_the_query_string_is_no_credential(face, name, http, alice, make):
    args = await example(face, make, alice)
    outcome = await face.call(http, args, params={name: alice.key})
    assert outcome.status == 401


@each_scoped
@proves("ERR-403")
async def test_a_key_without_the_scope_is_told_which_it_lacks(face, alice, make):
    client = make.client(await make.key(alice, scopes=insufficient(face.operation)))
    outcome = await face.call(client, await example(face, make, alice))
    assert (outcome.status, outcome.reason) == (403, "INSUFFICIENT_SCOPE")
    assert face.operation.scopes[0] in outcome.body["error"]["message"]


@each_write
@proves("ERR-403-VIEWER")
async def test_a_viewer_cannot_write(face, alice, make, sql):
    viewer = await make.member(alice.workspace_id, "viewer")
    args = await example(face, make, alice)
    before = await checksum(sql, alice.workspace_id)
    outcome = await face.call(viewer.client, args)
    assert (outcome.status, outcome.reason) == (403, "INSUFFICIENT_SCOPE")
    assert await checksum(sql, alice.workspace_id) == before


@each_with_id
@proves("TENANT-404")
async def test_another_tenants_id_answers_like_one_that_never_was(face, alice, bob, make, sql):
    theirs: dict[str, Any] = {}
    for name in id_fields(face):
        theirs[name] = await make_id(face, name, make, alice, theirs)
    before = await checksum(sql, alice.workspace_id)
    for name in id_fields(face):
        args = await example(face, make, bob)
        never = never_issued(theirs[name])
        foreign = await face.call(bob.client, args | {name: theirs[name]})
        absent = await face.call(bob.client, args | {name: never})
        assert says_absent(face, foreign), f"{name}: {foreign.text}"
        assert foreign.without(*listed(theirs[name])) == absent.without(*listed(never))
    assert says_absent(face, await face.call(bob.client, await example(face, make, bob) | theirs))
    assert await checksum(sql, alice.workspace_id) == before


@each_face
@proves("TENANT-READ")
async def test_no_answer_holds_anything_of_another_tenant(face, alice, bob, make, sql):
    await make.document(alice.client, title=f"Title of {alice.email}", content=f"Content of {alice.email}")
    before = await checksum(sql, alice.workspace_id)
    outcome = await face.call(bob.client, await example(face, make, bob))
    assert outcome.status < 300
    assert alice.email not in outcome.text
    assert await checksum(sql, alice.workspace_id) == before


@each_face
@proves("ERR-429")
async def test_a_spent_rate_is_refused_with_the_time_to_wait(face, alice, make, strict):
    args = await example(face, make, alice)
    client = strict.client(alice.key)
    await face.call(client, args)
    outcome = await face.call(client, args)
    assert (outcome.status, outcome.reason) == (429, "RATE_LIMITED")
    assert_tells_when(face, outcome)


@each_planned
@pytest.mark.parametrize("lapsed", [False, True], ids=["none", "lapsed"])
@proves("ERR-402-PLAN")
async def test_a_workspace_without_an_active_plan_is_asked_for_one(face, lapsed, alice, make):
    args = await example(face, make, alice)
    await make.plan(alice, "trial" if lapsed else None, lapsed=lapsed)
    outcome = await face.call(make.client(await make.key(alice)), args)
    assert (outcome.status, outcome.reason) == (402, "PLAN_REQUIRED")


@each_planned
@proves("ERR-503-PLAN")
async def test_a_plan_that_cannot_be_read_is_a_passing_trouble(face, alice, make):
    args = await example(face, make, alice)
    await make.plan(alice, "a plan that no file knows")
    outcome = await face.call(make.client(await make.key(alice)), args)
    assert (outcome.status, outcome.reason) == (503, "ENTITLEMENT_UNAVAILABLE")
    assert_tells_when(face, outcome)


def test_who_the_caller_is_is_the_only_operation_without_a_plan():
    assert {face.operation.name for face in KEY_FACES if face.operation.plan_exempt} == {"user.me"}


@proves("ERR-402-FEATURE")
async def test_an_operation_of_a_plan_feature_names_the_plans_that_have_it(alice, make):
    found = [(face, await example(face, make, alice)) for face in KEY_FACES if face.operation.feature]
    await make.plan(alice, "Pro")
    client = make.client(await make.key(alice))
    assert found
    for face, args in found:
        outcome = await face.call(client, args)
        assert (outcome.status, outcome.reason) == (402, "FEATURE_NOT_IN_PLAN"), face.label
        assert outcome.body["error"]["details"]["plansWithFeature"] == ["Pro Max", "Ultimate"]


@each_body
@proves("ORDER-401")
async def test_the_credential_is_checked_before_the_body_is_read(face, http, alice, make):
    args = await example(face, make, alice)
    assert (await face.call_with_garbage(http, args)).status == 401


@each_body
@proves("ORDER-403")
async def test_the_scope_is_checked_before_the_body_is_read(face, alice, make):
    client = make.client(await make.key(alice, scopes=insufficient(face.operation)))
    args = await example(face, make, alice)
    assert (await face.call_with_garbage(client, args)).status == 403


@each_body
@proves("ORDER-429")
async def test_the_rate_is_checked_before_the_body_and_the_body_before_the_operation(face, bob, make, strict):
    args = await example(face, make, bob)
    fresh = await make.user()
    first = await face.call_with_garbage(strict.client(fresh.key), args)
    second = await face.call_with_garbage(strict.client(fresh.key), args)
    assert (first.status, second.status) == (400, 429)


@each_featured
@proves("ORDER-FEATURE")
async def test_a_feature_that_the_plan_lacks_is_said_before_what_is_wrong_with_the_request(face, alice, make):
    args = await example(face, make, alice)
    await make.plan(alice, "Pro")
    client = make.client(await make.key(alice))
    for outcome in (await face.call(client, args | {"nonsense": "x"}), await face.call_with_garbage(client, args)):
        assert (outcome.status, outcome.reason) == (402, "FEATURE_NOT_IN_PLAN")


@each_featured
@proves("ORDER-RATE")
async def test_a_spent_rate_is_said_before_a_feature_that_the_plan_lacks(
    face, alice, make, settings, database, tmp_path
):
    args = await example(face, make, alice)
    async with one_call_a_minute(settings, database, tmp_path) as bare:
        client = bare.client((await make.user()).key)  # who called nothing yet
        outcomes = [await face.call(client, args) for _ in range(2)]
    assert [outcome.reason for outcome in outcomes] == ["FEATURE_NOT_IN_PLAN", "RATE_LIMITED"]


@each_with_id
@proves("ORDER-400")
async def test_what_is_wrong_with_a_request_is_said_before_that_its_object_is_absent(face, alice, make):
    args = await example(face, make, alice)
    absent = {name: never_issued(args[name]) for name in id_fields(face) if name in args}
    outcome = await face.call(alice.client, args | absent | {"nonsense": "x"})
    assert (outcome.status, outcome.reason) == (400, "INVALID_REQUEST"), outcome.text
    assert outcome.body["error"]["details"][0]["field"] == "nonsense"


async def test_a_caller_is_told_who_it_is_when_its_plan_cannot_be_read(alice, make):
    await make.plan(alice, "no such plan")
    answer = await make.client(await make.key(alice)).get("/v1/user/me")
    assert answer.status_code == 200
    assert answer.json()["data"]["plan"] is None


async def test_head_answers_like_get_without_a_body(alice, make):
    client = make.client(alice.key)
    made = await make.document(client)
    head = await client.request("HEAD", f"/v1/documents/{made['id']}")
    assert (head.status_code, "etag" in head.headers) == (200, True)
