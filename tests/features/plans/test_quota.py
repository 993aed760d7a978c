"""Allowances: judged where the write happens, never exceeded, and said in one form."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from app.features.documents.operations import create_document
from app.features.imports.operations import put_chunk
from app.features.plans import queries
from app.features.plans.service import Allowances
from app.features.uploads.remote import Converter
from app.features.uploads.service import Reading
from app.gate.policy import Meter, Plan, Plans, Role
from app.gate.principal import CredentialKind, Principal
from app.gate.quota import Quota
from app.kit.ids import new_id
from app.store.confined import Confined
from tests.contract.requirements import proves

DOCUMENT = {"title": "T", "content": "c"}
NOBODY = "0193a5e4-0000-7000-8000-000000000000"
PROMPT = {"title": "T", "description": "d", "content": "c"}


async def used(user, meter):
    return (await user.client.get("/v1/user/me")).json()["data"]["usage"][meter]


@proves("QUOTA")
@pytest.mark.parametrize(
    ("path", "body", "meter", "limit"),
    [
        ("/v1/documents", DOCUMENT, "documents", 2),
        ("/v1/prompts", PROMPT, "prompts", 1),
        ("/v1/collections", {"name": "N"}, "collections", 1),
    ],
    ids=["documents", "prompts", "collections"],
)
async def test_one_more_than_the_plan_allows_is_refused_and_not_written(limited, refusal, path, body, meter, limit):
    user = await limited.on("items")
    assert [(await user.client.post(path, json=body)).status_code for _ in range(limit)] == [201] * limit
    details = refusal(await user.client.post(path, json=body), meter)
    assert details == {"meter": meter, "limit": limit, "used": limit, "resetsAt": None}
    assert await used(user, meter) == {"used": limit, "limit": limit, "resetsAt": None}


@proves("QUOTA")
async def test_documents_of_files_count_like_others_and_their_originals_take_room(limited, refusal):
    user = await limited.on("items")
    files = {"file": ("notes.md", b"# Notes", "text/markdown")}
    made = [await user.client.post("/v1/documents/upload", files=files) for _ in range(3)]
    assert [answer.status_code for answer in made] == [202, 202, 402]
    assert refusal(made[2], "documents")["used"] == 2


@proves("QUOTA")
async def test_a_file_that_there_is_no_room_for_is_refused_with_the_amounts_and_its_bytes_are_not_kept(
    limited, refusal, sql
):
    user = await limited.on("bytes")
    large = {"file": ("large.csv", b"a,b\n" * 300, "text/csv")}
    details = refusal(await user.client.post("/v1/documents/upload", files=large), "storage_bytes")
    assert details == {"meter": "storage_bytes", "limit": 1000, "used": 0, "resetsAt": None}
    for table in ("blobs", "documents"):
        assert await sql.fetchval(f"SELECT count(*) FROM {table} WHERE workspace_id = $1", user.workspace_id) == 0
    assert (await used(user, "storage_bytes"))["used"] == 0


@proves("QUOTA")
async def test_the_text_of_a_file_that_there_is_no_room_for_is_not_kept_and_the_document_says_so(
    limited, settings, database, sql
):
    user = await limited.on("bytes")
    small, large = ("a.csv", b"a,b\n" * 20), ("b.csv", b"a,b\n" * 100)  # as Markdown each is more than twice as long
    made = [(await user.client.post("/v1/documents/upload", files={"file": file})).json() for file in (small, large)]
    allowances = Allowances(database, Plans.load(limited.plans_file), settings.default_plan)
    reading = Reading(database, Converter(Confined()), allowances, user.workspace_id)
    while await reading.read_files():
        pass
    read, failed = [(await user.client.get(f"/v1/documents/{one['data']['id']}")).json()["data"] for one in made]
    assert (read["status"], read["content"].count("| a | b |")) == ("pending", 20)
    assert (failed["status"], failed["content"], failed["revision"]) == ("failed", "", 1)
    room = (await used(user, "storage_bytes"))["used"]
    assert room == len(small[1]) + len(large[1]) + len(read["content"])
    assert failed["statusReason"] == (
        f"Its text was not kept. The plan's allowance of storage_bytes is used up ({room} of 1000); delete some, or "
        "choose a larger plan. Then upload the file again."
    )


@proves("QUOTA-MONTH")
async def test_answers_are_counted_by_the_month(limited, refusal):
    user = await limited.on("answers")
    sent = {"query": "What is kept here?"}
    assert (await user.client.post("/v1/reason", json=sent)).status_code == 200
    assert refusal(await user.client.post("/v1/reason", json=sent), "reason_month")["limit"] == 1


@proves("QUOTA")
async def test_writers_at_once_do_not_exceed_the_allowance(limited):
    user = await limited.on("items")
    answers = await asyncio.gather(*[user.client.post("/v1/documents", json=DOCUMENT) for _ in range(8)])
    assert sorted(answer.status_code for answer in answers) == [201] * 2 + [402] * 6
    assert (await used(user, "documents"))["used"] == 2


async def test_what_is_deleted_makes_room(limited):
    user = await limited.on("items")
    made = [await limited.document(user.client) for _ in range(2)]
    assert (await user.client.post("/v1/documents", json=DOCUMENT)).status_code == 402
    await user.client.delete(f"/v1/documents/{made[0]['id']}")
    assert (await user.client.post("/v1/documents", json=DOCUMENT)).status_code == 201


@proves("ORDER-404")
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/documents", DOCUMENT | {"collectionId": NOBODY}),
        ("POST", "/v1/prompts", PROMPT | {"collectionId": NOBODY}),
        ("POST", f"/v1/trash/{NOBODY}/restore", {}),
        ("POST", f"/v1/documents/{NOBODY}/restore", {"versionId": NOBODY}),
    ],
    ids=["document", "prompt", "trash", "version"],
)
async def test_an_absent_object_is_said_before_a_spent_allowance(limited, method, path, body):
    user = await limited.on("items")
    for _ in range(2):
        await limited.document(user.client)
    await limited.prompt(user.client)
    assert (await user.client.post("/v1/documents", json=DOCUMENT)).status_code == 402
    assert (await user.client.post("/v1/prompts", json=PROMPT)).status_code == 402
    answer = await user.client.request(method, path, json=body)
    assert (answer.status_code, answer.json()["error"]["reason"]) == (404, "NOT_FOUND")


@proves("ORDER-404")
async def test_a_write_of_an_absent_thing_is_404_before_the_allowance_is_looked_at(limited):
    user = await limited.on("bytes")
    await limited.document(user.client, content="x" * 1000)
    answer = await user.client.patch("/v1/documents/0193a5e4-0000-7000-8000-000000000000", json={"content": "y"})
    assert answer.status_code == 404


@proves("QUOTA-ORDER")
async def test_a_full_allowance_is_said_before_a_stale_revision(limited, refusal):
    user = await limited.on("bytes")
    made = await limited.document(user.client, content="x" * 1000)
    answer = await user.client.patch(f"/v1/documents/{made['id']}", json={"content": "y", "expectedRevision": 7})
    refusal(answer, "storage_bytes")


@proves("QUOTA")
async def test_storage_counts_texts_with_their_versions_and_a_change_of_the_title_takes_none(limited, refusal):
    user = await limited.on("bytes")
    made = await limited.document(user.client, content="x" * 600)
    url = f"/v1/documents/{made['id']}"
    refusal(await user.client.patch(url, json={"content": "y" * 600}), "storage_bytes")
    assert (await user.client.patch(url, json={"content": "y" * 400})).status_code == 200
    assert (await user.client.patch(url, json={"title": "Another"})).status_code == 200
    assert (await used(user, "storage_bytes"))["used"] == 1000


async def test_a_refused_write_leaves_no_receipt_and_succeeds_under_its_key_when_there_is_room(limited):
    user = await limited.on("items")
    made = [await limited.document(user.client) for _ in range(2)]
    sent = {"json": DOCUMENT, "headers": {"idempotency-key": "one"}}
    assert (await user.client.post("/v1/documents", **sent)).status_code == 402
    await user.client.delete(f"/v1/documents/{made[0]['id']}")
    first, again = [await user.client.post("/v1/documents", **sent) for _ in range(2)]
    assert (first.status_code, again.content) == (201, first.content)


async def test_a_replay_takes_nothing_of_what_is_stored(limited):
    user = await limited.on("items")
    sent = {"json": DOCUMENT, "headers": {"idempotency-key": "one"}}
    answers = [await user.client.post("/v1/documents", **sent) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [201] * 4
    assert (await used(user, "documents"))["used"] == 1


@proves("QUOTA-MONTH")
async def test_a_monthly_allowance_says_when_it_begins_anew(limited, refusal):
    user = await limited.on("units")
    assert [(await user.client.post("/v1/documents", json=DOCUMENT)).status_code for _ in range(2)] == [201] * 2
    details = refusal(await user.client.post("/v1/documents", json=DOCUMENT), "api_units_month")
    resets = datetime.fromtimestamp(details["resetsAt"] / 1000, UTC)
    assert (details["limit"], details["used"]) == (2, 2)
    assert (resets.day, resets.hour, resets.minute) == (1, 0, 0)
    assert 0 < (resets - datetime.now(UTC)).days + 1 <= 31
    assert (await user.client.get("/v1/documents")).status_code == 200
    assert await used(user, "api_units_month") == {"used": 2, "limit": 2, "resetsAt": details["resetsAt"]}


@proves("QUOTA-MONTH")
async def test_calls_at_once_take_exactly_what_the_month_allows(limited):
    user = await limited.on("units")
    answers = await asyncio.gather(*[user.client.post("/v1/documents", json=DOCUMENT) for _ in range(6)])
    assert sorted(answer.status_code for answer in answers) == [201] * 2 + [402] * 4


async def test_far_below_the_limit_nothing_is_locked_and_usage_is_asked_once(limited, monkeypatch):
    asked = []
    count_all = queries.count_all

    async def counted(*args):
        asked.append(args)
        return await count_all(*args)

    async def never(tx):
        raise AssertionError

    monkeypatch.setattr(queries, "count_all", counted)
    monkeypatch.setattr(queries, "wait_for_others", never)
    wide, free = await limited.on("wide"), await limited.user()
    for user in (wide, wide, wide, free, free):
        assert (await user.client.post("/v1/documents", json=DOCUMENT)).status_code == 201
    assert [args[1] for args in asked] == [wide.workspace_id]


async def test_a_key_too_many_is_refused(limited, refusal):
    user = await limited.on("items")
    browser = await limited.browser(user)
    body = {"name": "K", "scopes": ["documents.read"]}
    assert (await browser.post("/v1/keys", json=body)).status_code == 201  # with the one the user has
    refusal(await browser.post("/v1/keys", json=body), "api_keys")


async def test_a_plan_without_limits_shows_usage_without_them(limited):
    user = await limited.user()
    await limited.document(user.client, content="four")
    data = (await user.client.get("/v1/user/me")).json()["data"]
    assert data["plan"]["name"] == "self-hosted"
    assert data["usage"]["storage_bytes"] == {"used": 4, "limit": None, "resetsAt": None}
    assert set(data["usage"]) == {"documents", "prompts", "collections", "storage_bytes", "api_keys"}


@proves("ORDER-402")
async def test_a_missing_plan_is_said_before_a_missing_scope(make):
    user = await make.user()
    await make.plan(user, None)
    client = make.client(await make.key(user, scopes=("prompts.read",)))
    assert (await client.get("/v1/documents")).json()["error"]["reason"] == "PLAN_REQUIRED"


class Still:
    """Usage as a process sees it for a few seconds: the writes of a batch do not show yet."""

    def __init__(self, documents):
        self.used = {Meter.DOCUMENTS: documents}

    async def recent(self, _workspace_id):
        return self.used


async def test_writes_that_usage_does_not_show_yet_count_on_the_way_to_the_limit():
    plan = Plan("p", frozenset(), {}, {Meter.DOCUMENTS: 2_000}, trial=False)
    ids = [new_id() for _ in range(3)]
    person = Principal(ids[0], "P", ids[1], Role.OWNER, CredentialKind.API_KEY, ids[2], frozenset(), plan)
    meters = Still(900)
    quota = Quota(meters)
    near = [await quota.near(person, create_document) for _ in range(150)]
    assert [bool(limits) for limits in near] == [False] * 100 + [True] * 50
    assert await quota.near(person, put_chunk) == {Meter.DOCUMENTS: 2_000}
    meters.used = {Meter.DOCUMENTS: 950}
    assert not await quota.near(person, create_document)
