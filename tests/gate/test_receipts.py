"""Idempotency receipts over the wire: one effect, the same bytes, whoever asks and how often (invariants R1 to R8)."""

from __future__ import annotations

import asyncio
import uuid

import pytest

from tests.contract.requirements import proves
from tests.support.factories import Make

VARYING = {"date", "x-request-id", "idempotency-replayed"}


def same(first, again):
    """Compare all that a replay must repeat."""
    assert again.status_code == first.status_code
    assert again.content == first.content
    assert again.headers["idempotency-replayed"] == "true"
    assert "idempotency-replayed" not in first.headers

    def kept(answer):
        return {k: v for k, v in answer.headers.items() if k not in VARYING and not k.startswith("x-ratelimit")}

    assert kept(again) == kept(first)


def create(client, key, **fields):
    body = {"title": "T", "content": "c"} | fields
    return client.post("/v1/documents", json=body, headers={"idempotency-key": key})


async def count(alice):
    return len((await alice.client.get("/v1/documents", params={"limit": 100})).json()["data"])


@proves("REC-REPLAY")
async def test_a_create_is_replayed_byte_for_byte_with_tag_and_location(alice):
    key = str(uuid.uuid4())
    first = await create(alice.client, key, title="Zwölf", tags=["ä"])
    same(first, await create(alice.client, key, title="Zwölf", tags=["ä"]))
    assert {"etag", "location"} <= set(first.headers)
    assert await count(alice) == 1


@proves("REC-REPLAY")
async def test_update_restore_and_delete_are_replayed_and_have_one_effect(alice, make):
    made = await make.document(alice.client)
    url = f"/v1/documents/{made['id']}"
    version = (await alice.client.get(f"{url}/versions")).json()["data"][0]["id"]

    async def twice(method, path, **options):
        headers = options.pop("headers", {}) | {"idempotency-key": str(uuid.uuid4())}
        first = await alice.client.request(method, path, headers=headers, **options)
        assert first.status_code < 300, first.text
        same(first, await alice.client.request(method, path, headers=headers, **options))
        return first

    await twice("PATCH", url, json={"content": "new"}, headers={"if-match": made["etag"]})
    noop = await twice("PATCH", url, json={"content": "new", "expectedRevision": 2})
    assert noop.json()["data"]["noop"] is True
    restored = await twice("POST", f"{url}/restore", json={"versionId": version, "expectedRevision": 2})
    assert restored.json()["data"]["revision"] == 3
    assert (await twice("DELETE", url)).status_code == 204


async def test_the_order_of_json_members_and_spaces_do_not_make_another_request(alice):
    headers = {"idempotency-key": str(uuid.uuid4()), "content-type": "application/json"}
    first = await alice.client.post("/v1/documents", content=b'{"title":"T","content":"c"}', headers=headers)
    same(first, await alice.client.post("/v1/documents", content=b'{ "content": "c", "title": "T" }', headers=headers))


@proves("REC-FIRST")
async def test_a_replay_is_found_when_the_document_is_gone_since(alice, make):
    made = await make.document(alice.client)
    url = f"/v1/documents/{made['id']}"
    headers = {"idempotency-key": "one"}
    first = await alice.client.patch(url, json={"title": "New"}, headers=headers)
    await alice.client.delete(url)
    same(first, await alice.client.patch(url, json={"title": "New"}, headers=headers))


@proves("REC-TWINS")
async def test_many_twins_at_once_on_two_instances_have_one_effect(alice, twin):
    other = Make(twin, None).client(alice.key)
    answers = await asyncio.gather(*[create(client, "twins") for client in [alice.client, other] * 4])
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.content for answer in answers}) == 1
    assert [("idempotency-replayed" in answer.headers) for answer in answers].count(False) == 1
    assert await count(alice) == 1


@proves("REC-OTHER", "ERR-422")
async def test_another_request_under_the_same_key_is_refused_without_effect(alice, make):
    made = await make.document(alice.client, content="kept")
    url = f"/v1/documents/{made['id']}"
    headers = {"idempotency-key": "mine"}
    assert (await alice.client.patch(url, json={"title": "A"}, headers=headers)).status_code == 200
    others = [
        await alice.client.patch(url, json={"title": "B"}, headers=headers),
        await alice.client.patch(url, json={"title": "A", "tags": []}, headers=headers),
        await alice.client.patch(url, json={"title": "A", "expectedRevision": 1}, headers=headers),
        await alice.client.patch(url, json={"title": "A"}, headers=headers | {"if-match": made["etag"]}),
        await alice.client.patch(f"/v1/documents/{uuid.uuid4()}", json={"title": "A"}, headers=headers),
        await alice.client.delete(url, headers=headers),
        await create(alice.client, "mine"),
    ]
    for answer in others:
        assert (answer.status_code, answer.json()["error"]["reason"]) == (422, "IDEMPOTENCY_KEY_REUSED")
    data = (await alice.client.get(url)).json()["data"]
    assert (data["title"], data["revision"], await count(alice)) == ("A", 2, 1)


@proves("REC-OTHER")
async def test_another_request_is_refused_also_while_the_first_still_runs(alice, make, sql):
    made = await make.document(alice.client)
    url = f"/v1/documents/{made['id']}"
    headers = {"idempotency-key": "busy"}
    async with sql.acquire() as holder, holder.transaction():
        await holder.execute("SELECT FROM documents WHERE id = $1 FOR UPDATE", uuid.UUID(made["id"]))
        first = asyncio.create_task(alice.client.patch(url, json={"title": "A"}, headers=headers))
        await until_waiting(sql, 1)
        other = asyncio.create_task(alice.client.patch(url, json={"title": "B"}, headers=headers))
        await until_waiting(sql, 2)
    assert (await first).status_code == 200
    assert (await other).status_code == 422


async def until_waiting(sql, count):
    """Wait until so many statements wait for a lock."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    async with asyncio.timeout(2.5):
        while await sql.fetchval(waiting) < count:  # noqa: ASYNC110  the database tells no event
            await asyncio.sleep(0.01)


async def test_a_twin_that_waits_too_long_is_told_to_come_back_and_then_replays(alice, make, sql):
    made = await make.document(alice.client)
    url = f"/v1/documents/{made['id']}"
    headers = {"idempotency-key": "slow"}
    body = {"title": "A"}
    transaction = (connection := await sql.acquire()).transaction()
    await transaction.start()
    try:
        await connection.execute("SELECT FROM documents WHERE id = $1 FOR UPDATE", uuid.UUID(made["id"]))
        first, second = await asyncio.gather(
            alice.client.patch(url, json=body, headers=headers), alice.client.patch(url, json=body, headers=headers)
        )
    finally:
        await transaction.rollback()
        await sql.release(connection)
    for answer in (first, second):
        assert answer.status_code in (409, 503), answer.text
        assert answer.json()["error"]["reason"] in ("IDEMPOTENCY_IN_PROGRESS", "UNAVAILABLE")
        assert int(answer.headers["retry-after"]) >= 1
    done = await alice.client.patch(url, json=body, headers=headers)
    assert (done.status_code, done.json()["data"]["revision"]) == (200, 2)
    same(done, await alice.client.patch(url, json=body, headers=headers))


@proves("REC-SCOPE")
async def test_the_same_key_of_another_principal_is_another_key(alice, bob, make):
    second_key = make.client(await make.key(alice))
    colleague = await make.member(alice.workspace_id, "member")
    answers = [await create(client, "shared") for client in (alice.client, second_key, colleague.client, bob.client)]
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["data"]["id"] for answer in answers}) == 4
    assert not any("idempotency-replayed" in answer.headers for answer in answers)


@proves("REC-2XX")
async def test_a_refusal_is_not_stored(alice, make):
    made = await make.document(alice.client)
    url = f"/v1/documents/{made['id']}"
    headers = {"idempotency-key": "again"}
    stale = {"title": "New", "expectedRevision": 2}
    assert (await alice.client.patch(url, json=stale, headers=headers)).status_code == 409
    await alice.client.patch(url, json={"content": "two"})
    answer = await alice.client.patch(url, json=stale, headers=headers)
    assert (answer.status_code, answer.json()["data"]["revision"]) == (200, 3)


@proves("REC-2XX")
async def test_no_refusal_leaves_a_receipt(alice, make, sql):
    viewer = await make.member(alice.workspace_id, "viewer")
    refused = [
        await create(viewer.client, "k"),
        await create(alice.client, "k", title=""),
        await alice.client.patch(
            f"/v1/documents/{uuid.uuid4()}", json={"title": "T"}, headers={"idempotency-key": "k"}
        ),
    ]
    assert [answer.status_code for answer in refused] == [403, 400, 404]
    assert await sql.fetchval("SELECT count(*) FROM receipts WHERE workspace_id = $1", alice.workspace_id) == 0


@proves("REC-24H")
@pytest.mark.parametrize(("age", "status"), [("23 hours 59 minutes", 422), ("24 hours", 201)])
async def test_a_receipt_lives_a_day_from_its_creation(alice, sql, age, status):
    first = await create(alice.client, "day")
    shift = "UPDATE receipts SET created_at = created_at - $2::text::interval WHERE workspace_id = $1"
    await sql.execute(shift, alice.workspace_id, age)
    if status == 422:
        same(first, await create(alice.client, "day"))
    assert (await create(alice.client, "day", title="Other")).status_code == status


@proves("REC-FORM")
async def test_a_quoted_and_a_bare_key_are_the_same_key(alice):
    same(await create(alice.client, "abc"), await create(alice.client, '"abc"'))


@proves("REC-FORM")
@pytest.mark.parametrize(
    ("key", "status"),
    [
        ("k" * 255, 201),
        (f'"{"k" * 255}"', 201),
        ("k" * 256, 400),
        ("", 400),
        ('""', 400),
        ("ü", 400),
        ("a\tb", 400),
        ("a b", 201),
    ],
)
async def test_a_key_has_1_to_255_visible_characters(alice, key, status):
    assert (await create(alice.client, key.encode("latin-1"))).status_code == status


@proves("REC-FORM")
async def test_a_key_on_a_read_is_refused(alice):
    answer = await alice.client.get("/v1/documents", headers={"idempotency-key": "k"})
    assert (answer.status_code, answer.json()["error"]["details"][0]["field"]) == (400, "Idempotency-Key")


async def test_neither_key_nor_answer_stand_in_the_clear_in_the_database(alice, sql):
    await create(alice.client, "a very secret key", title="A title to find")
    row = str(dict(await sql.fetchrow("SELECT * FROM receipts WHERE workspace_id = $1", alice.workspace_id)))
    assert "very secret" not in row
