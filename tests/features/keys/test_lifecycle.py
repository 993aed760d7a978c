"""API keys of signed-in people: made, shown once, rotated with an overlap, used, revoked."""

from __future__ import annotations

import asyncio
import time
import uuid
from datetime import UTC, datetime, timedelta

import pytest

from tests.contract.requirements import proves
from tests.support.factories import ALL_SCOPES, Make
from tests.support.pages import pages_of
from tests.support.service import serving
from tests.support.visitor import with_password

KEY = {"name": "Laptop", "scopes": ["documents.write"]}


async def made(client, **more):
    answer = await client.post("/v1/keys", json=KEY | more)
    assert answer.status_code == 201, answer.text
    return answer.json()["data"]


async def works(make, key):
    return (await make.client(key).get("/v1/documents")).status_code == 200


@proves("KEY-ONCE")
async def test_a_key_is_shown_once_and_works_at_once(make, alice, sql):
    client = await make.browser(alice)
    key = await made(client)
    assert await works(make, key["key"])
    listed = await client.get("/v1/keys")
    (item,) = [item for item in listed.json()["data"] if item["id"] == key["id"]]
    assert item["publicId"] == key["key"].split("_")[1]
    assert key["key"].split("_")[2] not in listed.text
    assert await sql.fetchval(
        "SELECT count(*) FROM account_audit WHERE action = 'key.created' AND user_id = $1", alice.id
    )


@proves("KEY-ONCE", "RCPT-SEALED")
async def test_a_retry_gets_the_same_key_again_and_the_stored_answer_is_sealed(make, alice, sql):
    client = await make.browser(alice)
    headers = {"idempotency-key": str(uuid.uuid4())}
    first = await client.post("/v1/keys", json=KEY, headers=headers)
    again = await client.post("/v1/keys", json=KEY, headers=headers)
    assert again.content == first.content
    assert again.headers["idempotency-replayed"] == "true"
    secret = first.json()["data"]["key"].encode()
    bodies = await sql.fetch("SELECT body FROM receipts WHERE workspace_id = $1", alice.workspace_id)
    assert bodies
    import zlib

    for row in bodies:
        assert secret not in row["body"]
        with pytest.raises(zlib.error):
            zlib.decompress(row["body"])


@proves("RCPT-SEALED")
async def test_receipts_stay_readable_when_the_secret_was_rotated(settings, database, make, alice):
    headers = {"idempotency-key": str(uuid.uuid4())}
    body = {"title": "Once", "content": "c"}
    first = await alice.client.post("/v1/documents", json=body, headers=headers)
    secret = type(settings.secret_key)
    rotated = settings.model_copy(
        update={"secret_key": secret("a new secret of the service, long enough"), "secret_key_old": settings.secret_key}
    )
    async with serving(rotated) as app:
        later = Make(app, database).client(alice.key)
        for _ in range(2):  # the second time from the receipt under the new secret
            again = await later.post("/v1/documents", json=body, headers=headers)
            assert (again.content, again.headers.get("idempotency-replayed")) == (first.content, "true")
        other = await later.post("/v1/documents", json=body | {"title": "Other"}, headers=headers)
        assert other.status_code == 422


@proves("KEY-ROTATE")
async def test_rotation_gives_a_new_secret_and_lets_the_old_one_work_for_a_while(make, alice, sql):
    client = await make.browser(alice)
    old = await made(client, expiresAt=(datetime.now(UTC) + timedelta(days=30)).isoformat())
    answer = await client.post(f"/v1/keys/{old['id']}:rotate", json={"overlapSeconds": 600})
    new = answer.json()["data"]
    assert new["key"] != old["key"]
    assert (new["name"], new["scopes"], new["expiresAt"]) == (old["name"], old["scopes"], old["expiresAt"])
    assert await works(make, old["key"])
    assert await works(make, new["key"])
    grants = await sql.fetch("SELECT DISTINCT grant_id FROM credentials WHERE id = ANY($1)", [old["id"], new["id"]])
    assert len(grants) == 1
    listed = {item["id"]: item for item in (await client.get("/v1/keys")).json()["data"]}
    ends = datetime.fromisoformat(listed[old["id"]]["expiresAt"]) - datetime.now(UTC)
    assert timedelta(seconds=580) < ends <= timedelta(seconds=600)
    again = await client.post(f"/v1/keys/{old['id']}:rotate", json={})
    assert (again.status_code, again.json()["error"]["reason"]) == (409, "KEY_ENDED")
    too_long = await client.post(f"/v1/keys/{new['id']}:rotate", json={"overlapSeconds": 86_401})
    assert too_long.status_code == 400


@proves("KEY-ROTATE")
async def test_a_receipt_survives_the_rotation(make, alice):
    client = await make.browser(alice)
    old = await made(client)
    headers, body = {"idempotency-key": str(uuid.uuid4())}, {"title": "Once", "content": "c"}
    first = await make.client(old["key"]).post("/v1/documents", json=body, headers=headers)
    new = (await client.post(f"/v1/keys/{old['id']}:rotate", json={"overlapSeconds": 0})).json()["data"]
    again = await make.client(new["key"]).post("/v1/documents", json=body, headers=headers)
    assert again.content == first.content


@proves("KEY-ROTATE")
async def test_of_many_rotations_at_once_one_succeeds(make, alice):
    client = await make.browser(alice)
    key = await made(client)
    answers = await asyncio.gather(*(client.post(f"/v1/keys/{key['id']}:rotate", json={}) for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 7


@proves("KEY-REVOKE")
async def test_a_revoked_key_ends_here_at_once_and_elsewhere_within_five_seconds(make, alice, twin):
    client = await make.browser(alice)
    key = await made(client)
    elsewhere = Make(twin, None)
    assert await works(make, key["key"])
    assert await works(elsewhere, key["key"])
    assert (await client.delete(f"/v1/keys/{key['id']}")).status_code == 204
    assert not await works(make, key["key"])
    started = time.monotonic()
    while await works(elsewhere, key["key"]):
        assert time.monotonic() - started < 5
        await asyncio.sleep(0.1)
    assert (await client.delete(f"/v1/keys/{key['id']}")).status_code == 404


@proves("KEY-REVOKE")
async def test_revoking_the_current_key_takes_its_predecessor_along_and_a_predecessor_goes_alone(make, alice):
    client = await make.browser(alice)
    first = await made(client)
    second = (await client.post(f"/v1/keys/{first['id']}:rotate", json={})).json()["data"]
    third = (await client.post(f"/v1/keys/{second['id']}:rotate", json={})).json()["data"]
    assert (await client.delete(f"/v1/keys/{first['id']}")).status_code == 204
    assert [await works(make, key["key"]) for key in (first, second, third)] == [False, True, True]
    assert (await client.delete(f"/v1/keys/{third['id']}")).status_code == 204
    assert [await works(make, key["key"]) for key in (first, second, third)] == [False, False, False]


@proves("KEY-ROLE")
async def test_a_viewer_gets_keys_that_read_and_no_others(make, alice):
    viewer = await make.member(alice.workspace_id, "viewer")
    client = await make.browser(viewer)
    for scope in ALL_SCOPES:
        answer = await client.post("/v1/keys", json={"name": "v", "scopes": [scope]})
        assert answer.status_code == (201 if scope.endswith(".read") else 403), scope
    (await client.get("/v1/keys")).raise_for_status()


async def test_keys_are_a_persons_own_and_of_one_workspace(make, alice):
    member = await make.member(alice.workspace_id, "member")
    mine = await made(await make.browser(alice))
    client = await make.browser(member)
    assert mine["id"] not in (await client.get("/v1/keys")).text
    assert (await client.delete(f"/v1/keys/{mine['id']}")).status_code == 404


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "x" * 101},
        {"scopes": []},
        {"scopes": ["everything"]},
        {"expiresAt": "2001-01-01T00:00:00Z"},
        {"expiresAt": "2040-01-01T00:00:00"},
        {"workspaceId": str(uuid.uuid4())},
    ],
)
async def test_a_key_that_makes_no_sense_is_refused(make, alice, wrong):
    assert (await (await make.browser(alice)).post("/v1/keys", json=KEY | wrong)).status_code == 400


async def test_last_use_is_known_after_a_flush_with_the_program_that_used_it(service, make, alice):
    client = await make.browser(alice)
    key = await made(client)
    await make.client(key["key"], **{"user-agent": "Agent\u007f/1.0"}).get("/v1/documents")
    await service.state.gate._marks.flush()
    (item,) = [item for item in (await client.get("/v1/keys")).json()["data"] if item["id"] == key["id"]]
    assert item["lastUsedBy"] == "Agent/1.0"
    assert datetime.now(UTC) - datetime.fromisoformat(item["lastUsedAt"]) < timedelta(seconds=30)


async def test_the_page_makes_rotates_and_revokes(service, alice):
    browser = await with_password(service, alice)
    shown = await browser.fill("/dashboard/keys", **{"name": "By page", "scope.documents.read": "on", "days": "30"})
    assert shown.status_code == 200
    text = shown.text.partition('value="gm_')[2].partition('"')[0]
    assert text not in (await browser.get("/dashboard/keys")).text
    assert (await browser.fill("/dashboard/keys", name="No scope")).status_code == 400
    (key,) = [k for k in (await browser.get("/v1/keys")).json()["data"] if k["name"] == "By page"]
    path = f"/dashboard/keys/{key['id']}"
    rotated = await browser.fill("/dashboard/keys", f"{path}/rotate", overlap="0")
    assert "The new secret of" in rotated.text
    (key,) = [k for k in (await browser.get("/v1/keys")).json()["data"] if k["name"] == "By page"]
    gone = await browser.fill("/dashboard/keys", f"/dashboard/keys/{key['id']}/revoke")
    assert gone.status_code == 303
    assert "By page" not in (await browser.get("/dashboard/keys")).text


@pytest.mark.parametrize("ends", ["9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+12:00"])
async def test_a_time_that_utc_does_not_have_is_refused(make, alice, ends):
    client = await make.browser(alice)
    answer = await client.post("/v1/keys", json=KEY | {"expiresAt": ends})
    assert (answer.status_code, answer.json()["error"]["reason"]) == (400, "INVALID_REQUEST")
    assert answer.json()["error"]["details"][0]["field"] == "expiresAt"


@proves("KEY-PAGES")
async def test_keys_come_page_by_page_newest_first(service, make, alice):
    client = await make.browser(alice)
    before = [item["id"] for item in await pages_of(client, "/v1/keys", 2)]
    ids = [(await made(client, name=f"Page key {number}"))["id"] for number in range(5)]
    assert [item["id"] for item in await pages_of(client, "/v1/keys", 2)] == ids[::-1] + before
    clamped = (await client.get("/v1/keys", params={"limit": 1000})).json()
    assert "over the cap" in clamped["notice"]
    assert (await client.get("/v1/keys", params={"cursor": "x"})).status_code == 400


async def test_the_scopes_of_a_new_key_may_be_called_permissions_as_in_the_profile(alice, make):
    person = await make.browser(alice)
    me = (await make.client(await make.key(alice, scopes=("documents.write",))).get("/v1/user/me")).json()["data"]
    made = await person.post("/v1/keys", json={"name": "Like it", "permissions": me["permissions"]})
    assert made.status_code == 201, made.text
    like_it = (await make.client(made.json()["data"]["key"]).get("/v1/user/me")).json()["data"]
    assert like_it["permissions"] == me["permissions"]
    both = await person.post("/v1/keys", json={"name": "Both", "permissions": ["x"], "scopes": ["documents.read"]})
    assert (both.status_code, both.json()["error"]["details"][0]["field"]) == (400, "permissions")
    wrong = await person.post("/v1/keys", json={"name": "Wrong", "permissions": ["everything"]})
    assert wrong.status_code == 400
