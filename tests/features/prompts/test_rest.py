"""The wire form of prompts: create, read, list, change, restore, delete."""

from __future__ import annotations

import asyncio
import hashlib
import json
from uuid import UUID, uuid4

import pytest

from tests.contract.requirements import proves

ITEM_FIELDS = {
    "id",
    "title",
    "description",
    "isPublic",
    "isArchived",
    "tags",
    "variables",
    "currentVersion",
    "revision",
    "contentHash",
    "createdAt",
    "lastChangedAt",
    "updatedAt",
    "stats",
}
FIELDS = ITEM_FIELDS | {"content", "parameters", "version", "versionId"}
NEW = {"title": "T", "description": "D", "content": "C"}


def url_of(prompt):
    return f"/v1/prompts/{prompt['id']}"


def hash_of(data, variables=None):
    rest = {"isArchived": data["isArchived"], "parameters": data["parameters"], "variables": variables}
    canonical = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    parts = (data["title"], data["description"], data["content"], "\x1f".join(data["tags"]), canonical)
    return hashlib.sha256(b"".join(hashlib.sha256(part.encode()).digest() for part in parts)).hexdigest()


async def titles(client, **params):
    answer = await client.get("/v1/prompts", params=params)
    assert answer.status_code == 200, answer.text
    return [item["title"] for item in answer.json()["data"]]


@proves("PRM-2", "PRM-3")
async def test_create_answers_201_with_the_whole_prompt_and_a_read_equals_it(alice):
    sent = {
        "title": "Tü",
        "description": "",
        "content": 'Hi ${who}, {"a": {{b}}}\r\n',
        "tags": ["b", "a", "b"],
        "parameters": {"temperature": 0.5, "ü": [1, 1.0, 10**30, 1e22, True, None]},
        "engine": "gpt-4",
        "workspace": "w",
        "isPublic": False,
    }
    answer = await alice.client.post("/v1/prompts", json=sent)
    data = answer.json()["data"]
    assert (answer.status_code, set(answer.json()), data.keys()) == (201, {"data"}, FIELDS)
    assert {name: data[name] for name in ("title", "description", "content", "parameters")} == {
        name: sent[name] for name in ("title", "description", "content", "parameters")
    }
    assert (data["tags"], data["isPublic"], data["isArchived"]) == (["b", "a"], False, False)
    assert (data["currentVersion"], data["version"], data["revision"]) == (1, 1, 1)
    assert data["contentHash"] == hash_of(data)
    assert isinstance(data["createdAt"], int)
    assert answer.headers["location"] == url_of(data)
    assert answer.headers["etag"] == f'"r1-{data["contentHash"][:16]}"'
    read = await alice.client.get(url_of(data))
    assert (read.json(), read.headers["etag"]) == (answer.json(), answer.headers["etag"])
    assert (await alice.client.patch(url_of(data), json={})).json()["data"]["noop"] is True


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"title": " "}, "title"),
        ({"description": None}, "description"),
        ({"content": 5}, "content"),
        ({"colour": "red"}, "colour"),
        ({"isPublic": True}, "isPublic"),
        ({"parameters": []}, "parameters"),
        ({"parameters": {"a": "x" * 20_000}}, "parameters"),
        ({"tags": ["a\tb"]}, "tags.0"),
        ({"variables": None}, "variables"),
    ],
)
@proves("PRM-2")
async def test_what_is_wrong_is_named(alice, change, field):
    answer = await alice.client.post("/v1/prompts", json=NEW | change)
    assert answer.status_code == 400
    assert answer.json()["error"]["details"][0]["field"] == field
    for missing in NEW:
        left = {name: value for name, value in NEW.items() if name != missing}
        assert (await alice.client.post("/v1/prompts", json=left)).json()["error"]["details"][0]["field"] == missing


@pytest.mark.parametrize("number", ["1e400", "-1e400", "9" * 5_000])
async def test_a_number_that_nothing_can_hold_is_refused(alice, number):
    body = '{"title":"T","description":"D","content":"C","parameters":{"a":[' + number + "]}}"
    answer = await alice.client.post("/v1/prompts", content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["reason"]) == (400, "INVALID_REQUEST")


@proves("PRM-3")
async def test_a_current_tag_answers_304(alice, make):
    made = await make.prompt(alice.client)
    answer = await alice.client.get(url_of(made), headers={"if-none-match": made["etag"]})
    assert (answer.status_code, answer.content) == (304, b"")


@proves("PRM-1")
async def test_a_list_is_newest_first_without_text_and_pages_to_its_end(alice, make):
    made = [await make.prompt(alice.client, title=f"Number {number}") for number in range(5)]
    seen, cursor = [], None
    while True:
        params = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = (await alice.client.get("/v1/prompts", params=params)).json()
        assert all(item.keys() == ITEM_FIELDS for item in page["data"])
        seen += [item["id"] for item in page["data"]]
        cursor = page["pagination"]["cursor"]
        if not page["pagination"]["hasMore"]:
            break
    assert seen == [item["id"] for item in reversed(made)]
    over = (await alice.client.get("/v1/prompts", params={"limit": 1000})).json()
    assert (len(over["data"]), "100" in over["notice"]) == (5, True)


@proves("PRM-1")
async def test_q_is_literal_in_title_description_and_text_whatever_the_case(alice, make):
    await make.prompt(
        alice.client, title="Quarterly 100%", description="A_b \\ c", content="x" * 100_000 + " Nädel ${v}"
    )
    await make.prompt(alice.client, title="Other", description="none", content="nothing")
    for text in ("QUARTERLY", "100%", "a_B", "\\", "nÄdel", "${V}", "ly 1"):
        assert await titles(alice.client, q=text) == ["Quarterly 100%"], text
    for text in ("%x", "a?b", "x_ ", "100\\%", "aab"):
        assert await titles(alice.client, q=text) == [], text


@proves("PRM-1")
async def test_q_finds_the_current_text_only(alice, make):
    made = await make.prompt(alice.client, title="One", content="old words")
    await alice.client.patch(url_of(made), json={"content": "new words"})
    assert await titles(alice.client, q="new words") == ["One"]
    assert await titles(alice.client, q="old words") == []


@proves("PRM-1")
async def test_tags_narrow_to_prompts_that_carry_all_of_them(alice, make):
    await make.prompt(alice.client, title="Both", tags=["a", "b", "c"])
    made = await make.prompt(alice.client, title="One", tags=["a"])
    assert await titles(alice.client, tags="a,b") == ["Both"]
    assert await titles(alice.client, tags='["a"]') == ["One", "Both"]
    await alice.client.patch(url_of(made), json={"tags": ["b", "a"]})
    assert await titles(alice.client, tags="b,a") == ["One", "Both"]


@proves("PRM-4")
async def test_archived_prompts_are_left_out_of_lists_and_stay_readable(alice, make):
    made = await make.prompt(alice.client, title="Old")
    changed = (await alice.client.patch(url_of(made), json={"isArchived": True})).json()["data"]
    assert (changed["isArchived"], changed["revision"], changed["currentVersion"]) == (True, 2, 1)
    assert await titles(alice.client) == []
    assert await titles(alice.client, includeArchived="true") == ["Old"]
    assert (await alice.client.get(url_of(made))).json()["data"]["isArchived"] is True
    await alice.client.patch(url_of(made), json={"isArchived": False})
    assert await titles(alice.client) == ["Old"]


@proves("PRM-PUBLIC")
async def test_public_is_read_only_and_shows_nothing_of_others(alice, bob, make, sql):
    await make.prompt(bob.client, title="Of Bob")
    made = await make.prompt(alice.client, title="Mine")
    for value in ("true", "false"):
        assert await titles(alice.client, includePublic=value, workspace="any") == ["Mine"]
    assert (await alice.client.patch(url_of(made), json={"isPublic": True})).status_code == 400
    assert (await alice.client.patch(url_of(made), json={"isPublic": False})).json()["data"]["noop"] is True
    await sql.execute("UPDATE prompts SET published_at = now()")  # every prompt of everybody
    assert await titles(alice.client, includePublic="true") == ["Mine"]
    assert (await alice.client.get(url_of(made))).json()["data"]["isPublic"] is True
    assert (await alice.client.patch(url_of(made), json={"isPublic": False})).status_code == 400


@proves("PRM-4", "PRM-REV")
@pytest.mark.parametrize(
    "change",
    [
        {"title": "New"},
        {"description": "New"},
        {"tags": ["b"]},
        {"tags": []},
        {"parameters": {"a": 1}},
        {"variables": [{"name": "what", "type": "number"}]},
        {"isArchived": True},
    ],
    ids=str,
)
async def test_a_change_beside_the_text_moves_the_revision_and_makes_no_version(alice, make, change):
    made = await make.prompt(alice.client, tags=["a"])
    answer = await alice.client.patch(url_of(made), json=change)
    data = answer.json()["data"]
    assert (answer.status_code, data.keys() - FIELDS) == (200, {"noop"})
    assert (data["revision"], data["currentVersion"], data["noop"]) == (2, 1, False)
    read = await alice.client.get(url_of(made))
    assert read.json()["data"] | {"noop": False} == data
    assert read.headers["etag"] == answer.headers["etag"] != made["etag"]
    assert len((await alice.client.get(f"{url_of(made)}/versions")).json()["data"]) == 1
    again = (await alice.client.patch(url_of(made), json=change)).json()["data"]
    assert (again["revision"], again["noop"]) == (2, True)


@proves("PRM-4", "PRM-6", "PRM-7")
async def test_versions_and_restore(alice, make):
    made = await make.prompt(alice.client, title="First", content="one ${a}", tags=["x"])
    url = url_of(made)
    await alice.client.patch(url, json={"title": "Second", "content": "two ${b}", "changeLog": "why two"})
    versions = (await alice.client.get(f"{url}/versions")).json()["data"]
    assert [(v["version"], v["content"], v["changeLog"]) for v in versions] == [
        (2, "two ${b}", "why two"),
        (1, "one ${a}", None),
    ]
    assert versions[0].keys() == {
        "id",
        "version",
        "revision",
        "title",
        "description",
        "content",
        "tags",
        "variables",
        "labels",
        "userName",
        "changeLog",
        "createdAt",
    }
    assert [(v["title"], v["tags"], [one["name"] for one in v["variables"]]) for v in versions] == [
        ("Second", ["x"], ["b"]),
        ("First", ["x"], ["a"]),
    ]
    assert versions[0]["userName"] == alice.email.partition("@")[0]
    assert versions[1]["id"] == made["versionId"]
    answer = await alice.client.post(f"{url}/restore", json={"versionId": made["versionId"], "expectedRevision": 2})
    ack = answer.json()["data"]
    assert ack.keys() == {"id", "title", "currentVersion", "revision", "contentHash", "lastChangedAt", "noop"}
    assert (ack["title"], ack["currentVersion"], ack["revision"], ack["noop"]) == ("Second", 3, 3, False)
    data = (await alice.client.get(url)).json()["data"]
    assert (data["title"], data["content"], data["tags"]) == ("Second", "one ${a}", ["x"])
    assert [variable["name"] for variable in data["variables"]] == ["a"]
    assert answer.headers["etag"] == f'"r3-{data["contentHash"][:16]}"'
    again = (await alice.client.post(f"{url}/restore", json={"versionId": made["versionId"]})).json()["data"]
    assert (again["currentVersion"], again["noop"]) == (3, True)
    assert [v["version"] for v in (await alice.client.get(f"{url}/versions")).json()["data"]] == [3, 2, 1]


@proves("PRM-6")
async def test_versions_page_by_cursor(alice, make):
    made = await make.prompt(alice.client, content="0")
    for number in range(1, 4):
        await alice.client.patch(url_of(made), json={"content": str(number)})
    url = f"{url_of(made)}/versions"
    first = (await alice.client.get(url, params={"limit": 3})).json()
    rest = (await alice.client.get(url, params={"limit": 3, "cursor": first["pagination"]["cursor"]})).json()
    assert [version["content"] for version in first["data"] + rest["data"]] == ["3", "2", "1", "0"]
    assert (first["pagination"]["hasMore"], rest["pagination"]["hasMore"]) == (True, False)


async def test_a_page_of_large_versions_ends_early_and_the_next_goes_on(alice, make):
    made = await make.prompt(alice.client, content="0" + "x" * 5_000_000)
    for number in (1, 2):
        await alice.client.patch(url_of(made), json={"content": f"{number}" + "x" * 5_000_000})
    first = (await alice.client.get(f"{url_of(made)}/versions")).json()
    assert ([v["version"] for v in first["data"]], first["pagination"]["hasMore"], "notice" in first) == (
        [3, 2],
        True,
        True,
    )
    params = {"cursor": first["pagination"]["cursor"]}
    rest = (await alice.client.get(f"{url_of(made)}/versions", params=params)).json()
    assert ([v["version"] for v in rest["data"]], rest["pagination"]["hasMore"]) == ([1], False)


@proves("PRM-7")
async def test_an_unknown_version_is_404_and_a_malformed_one_400(alice, make):
    made, other = await make.prompt(alice.client), await make.prompt(alice.client)
    for version, status in ((str(uuid4()), 404), (other["versionId"], 404), ("no-id", 400), (None, 400)):
        answer = await alice.client.post(f"{url_of(made)}/restore", json={"versionId": version})
        assert answer.status_code == status


@proves("PRM-5")
async def test_a_deleted_prompt_is_404_everywhere(alice, make, sql):
    made = await make.prompt(alice.client)
    url, version = url_of(made), {"versionId": made["versionId"]}
    assert (await alice.client.put(f"{url}/labels/production", json=version)).status_code == 200
    gone = await alice.client.delete(url)
    assert (gone.status_code, gone.content) == (204, b"")
    for answer in (
        await alice.client.delete(url),
        await alice.client.get(url),
        await alice.client.get(url, params={"label": "production"}),
        await alice.client.patch(url, json={"title": "Again"}),
        await alice.client.get(f"{url}/versions"),
        await alice.client.post(f"{url}/restore", json=version),
        await alice.client.get(f"{url}/labels"),
        await alice.client.put(f"{url}/labels/x", json=version),
        await alice.client.delete(f"{url}/labels/production"),
    ):
        assert (answer.status_code, answer.json()["error"]["reason"]) == (404, "NOT_FOUND")
    assert await titles(alice.client) == []
    kept = await sql.fetchrow("SELECT deleted_at, deleted_by, revision FROM prompts WHERE id = $1", UUID(made["id"]))
    assert (kept["deleted_at"] is not None, kept["deleted_by"], kept["revision"]) == (True, alice.id, 1)


async def test_every_change_leaves_one_event_and_audit_line(alice, make, sql):
    made = await make.prompt(alice.client)
    url, label = url_of(made), f"{url_of(made)}/labels/production"
    await alice.client.patch(url, json={"title": "New"})
    await alice.client.patch(url, json={"title": "New"})  # changes nothing
    for _ in range(2):
        await alice.client.put(label, json={"versionId": made["versionId"]})
    await alice.client.delete(label)
    await alice.client.delete(url)
    expected = [
        ("prompt.created", 1),
        ("prompt.changed", 2),
        ("prompt.labelled", 2),
        ("prompt.unlabelled", 2),
        ("prompt.deleted", 2),
    ]
    for table in ("events", "audit"):
        query = f"SELECT topic, revision FROM {table} WHERE workspace_id = $1 AND object_id = $2 ORDER BY created_at"
        assert [tuple(row) for row in await sql.fetch(query, alice.workspace_id, UUID(made["id"]))] == expected


@proves("PRM-REV", "REC-REPLAY")
async def test_a_retried_write_has_one_effect_and_one_answer(alice, make):
    key = {"idempotency-key": str(uuid4())}
    first, second = [await alice.client.post("/v1/prompts", json=NEW, headers=key) for _ in range(2)]
    assert (first.content, second.headers["idempotency-replayed"]) == (second.content, "true")
    assert len(await titles(alice.client)) == 1
    url = url_of(first.json()["data"])
    for send in (
        lambda headers: alice.client.patch(url, json={"content": "new"}, headers=headers),
        lambda headers: alice.client.delete(url, headers=headers),
    ):
        key = {"idempotency-key": str(uuid4())}
        answers = [await send(key) for _ in range(2)]
        assert answers[0].content == answers[1].content
        assert answers[1].is_success
        other = await alice.client.patch(url, json={"title": "other"}, headers=key)
        assert other.status_code == 422


@proves("PRM-REV")
async def test_stale_preconditions_are_refused_with_the_current_revision(alice, make):
    made = await make.prompt(alice.client)
    url = url_of(made)
    changed = await alice.client.patch(url, json={"content": "new"}, headers={"if-match": made["etag"]})
    assert changed.status_code == 200
    stale = {"if-match": made["etag"]}
    version = {"versionId": made["versionId"]}
    for answer, status in (
        (await alice.client.patch(url, json={"content": "newer"}, headers=stale), 412),
        (await alice.client.patch(url, json={"content": "new", "expectedRevision": 1}), 409),
        (await alice.client.post(f"{url}/restore", json=version, headers=stale), 412),
        (await alice.client.post(f"{url}/restore", json=version | {"expectedRevision": 1}), 409),
        (await alice.client.put(f"{url}/labels/x", json=version, headers=stale), 412),
        (await alice.client.delete(f"{url}/labels/x", params={"expectedRevision": 1}), 409),
        (await alice.client.delete(url, headers=stale), 412),
        (await alice.client.delete(url, params={"expectedRevision": 3}), 409),
    ):
        error = answer.json()["error"]
        assert (answer.status_code, error["reason"]) == (status, "REVISION_MISMATCH")
        assert "prompt" in error["message"]
        assert error["details"] == {"currentRevision": 2, "contentHash": changed.json()["data"]["contentHash"]}
        assert answer.headers["etag"] == changed.headers["etag"]
    both = await alice.client.patch(url, json={"title": "x", "expectedRevision": 2}, headers=stale)
    assert (both.status_code, both.json()["error"]["reason"]) == (400, "PRECONDITION_CONFLICT")
    assert (await alice.client.delete(url, headers={"if-match": changed.headers["etag"]})).status_code == 204


@proves("PRM-REV")
async def test_of_many_writers_with_one_revision_one_wins(alice, make):
    made = await make.prompt(alice.client)
    answers = await asyncio.gather(
        *[
            alice.client.patch(url_of(made), json={"content": f"by {n}"}, headers={"if-match": made["etag"]})
            for n in range(8)
        ]
    )
    assert sorted(answer.status_code for answer in answers) == [200] + [412] * 7
    versions = (await alice.client.get(f"{url_of(made)}/versions")).json()["data"]
    assert [version["version"] for version in versions] == [2, 1]


@proves("PRM-REV")
async def test_writers_without_a_precondition_make_each_revision_and_version_once(alice, make, twin):
    made = await make.prompt(alice.client)
    other = type(make)(twin, None).client(alice.key)
    clients = [alice.client, other] * 6
    answers = await asyncio.gather(
        *[client.patch(url_of(made), json={"content": f"by {n}"}) for n, client in enumerate(clients)]
    )
    assert all(answer.status_code == 200 for answer in answers)
    data = sorted((a.json()["data"] for a in answers), key=lambda item: item["revision"])
    assert [(item["revision"], item["currentVersion"]) for item in data] == [(n, n) for n in range(2, 14)]
    versions = (await alice.client.get(f"{url_of(made)}/versions")).json()["data"]
    assert {(v["version"], v["content"]) for v in versions[:-1]} == {(i["version"], i["content"]) for i in data}


async def test_a_delete_and_a_change_at_once_leave_one_story(alice, make):
    for _ in range(5):
        made = await make.prompt(alice.client)
        change, gone = await asyncio.gather(
            alice.client.patch(url_of(made), json={"content": "late"}), alice.client.delete(url_of(made))
        )
        assert (change.status_code, gone.status_code) in {(200, 204), (404, 204)}
        assert (await alice.client.get(url_of(made))).status_code == 404
