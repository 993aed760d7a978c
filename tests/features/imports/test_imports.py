"""Imports: chunks that happen once, what is refused, and partial histories."""

from __future__ import annotations

import json

import pytest

from app.features.imports import jobs, queries
from app.kit import archive
from app.kit.ids import new_id
from app.store.jobs import Work
from tests.contract.requirements import proves
from tests.support import archives

WHEN = "2024-02-03T04:05:06.000007Z"


def history(item_id, *revisions, **fields):
    """A document's history; each revision is what differs from the usual."""
    lines = [{"type": "document", "id": item_id, "createdAt": WHEN, **fields}]
    for number, given in enumerate(revisions, 1):
        usual = {"revision": number, "version": number, "contentChanged": True, "title": "T", "tags": ["t"]}
        lines.append({"type": "revision", "id": str(new_id()), "userName": "Ann", "decidedAt": WHEN} | usual | given)
    return "".join(json.dumps(line) + "\n" for line in lines)


def text_file(path, text):
    return path, f"---\nid: 1\n---\n\n{text}"


def sha(text):
    return archive.digest_of(text).hex()


def document(text="Text."):
    """The files of a document of one revision."""
    item_id = str(new_id())
    place = f"documents/{item_id}"
    return [text_file(f"{place}.md", text), (f"{place}.jsonl", history(item_id, {"text": sha(text)}))]


@proves("IMPORT-CHUNKS")
async def test_a_chunk_that_is_sent_again_happens_once(alice):
    import_id, part = await archives.start(alice.client), document()
    answers = [await archives.put(alice.client, import_id, 1, part) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200] * 3
    assert len({answer.content for answer in answers}) == 1
    read = (await alice.client.get(f"/v1/imports/{import_id}")).json()["data"]
    assert (read["chunks"], read["counts"]) == (1, {"created": 1, "existing": 0, "texts": 1})


@proves("IMPORT-CHUNKS")
async def test_chunks_come_in_order_and_stay_what_they_were(alice):
    import_id = await archives.start(alice.client)
    early = await archives.put(alice.client, import_id, 2, document())
    assert (early.status_code, "send number 1" in early.text) == (400, True)
    assert (await archives.put(alice.client, import_id, 1, document())).status_code == 200
    other = await archives.put(alice.client, import_id, 1, document())
    assert (other.status_code, other.json()["error"]["reason"]) == (409, "CHUNK_DIFFERS")
    await alice.client.post(f"/v1/imports/{import_id}:finish")
    late = await archives.put(alice.client, import_id, 2, document())
    assert (late.status_code, late.json()["error"]["reason"]) == (409, "IMPORT_FINISHED")


@proves("IMPORT-CHUNKS")
async def test_a_chunk_with_one_bad_file_leaves_nothing(alice):
    import_id, good = await archives.start(alice.client), document()
    refused = await archives.put(alice.client, import_id, 1, [*good, ("notes.txt", "x")])
    assert (refused.status_code, "notes.txt" in refused.text) == (400, True)
    assert (await alice.client.get("/v1/documents")).json()["data"] == []
    assert (await archives.put(alice.client, import_id, 1, good)).status_code == 200


ID = str(new_id())
PLACE = f"documents/{ID}"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ([("documents/../x.md", "x")], "is no file of an archive"),
        ([(f"{PLACE}.md", "no front matter")], "must begin with front matter"),
        ([("manifest.json", '{"format": "other"}')], "this release reads version 1"),
        ([(f"{PLACE}.jsonl", "")], "line 1"),
        ([(f"{PLACE}.jsonl", "[]")], "line 1"),
        ([(f"{PLACE}.jsonl", history(str(new_id()), {"text": sha("a")}))], "another id"),
        ([(f"{PLACE}.jsonl", history(ID))], "last revision must have"),
        ([(f"{PLACE}.jsonl", history(ID, {"text": sha("a"), "title": None}))], "last revision must have"),
        ([(f"{PLACE}.jsonl", history(ID, {"text": sha("a")}))], "the text of version 1"),
        ([(f"{PLACE}.jsonl", history(ID, {"text": "zz"}))], "text"),
        ([(f"{PLACE}.jsonl", history(ID, {"text": sha("a"), "title": "\x00"}))], "U+0000"),
        ([(f"{PLACE}.jsonl", history(ID, {"text": sha("a"), "revision": 2**40}))], "revision"),
        ([(f"{PLACE}.jsonl", history(ID, {"text": sha("a")}, {"text": sha("a"), "revision": 1}))], "does not follow"),
        ([(f"{PLACE}.jsonl", history(ID, {"text": sha("a")}, {"text": sha("a"), "version": 7}))], "does not follow"),
        ([(f"{PLACE}.jsonl", history(ID, {"text": sha("a"), "contentChanged": False}))], "must begin a version"),
        ([(f"prompts/{ID}.jsonl", json.dumps({"type": "prompt", "id": ID}))], "required"),
    ],
)
async def test_what_is_no_archive_is_refused_and_named(alice, files, said):
    answer = await archives.put(alice.client, await archives.start(alice.client), 1, files)
    assert answer.status_code == 400, answer.text
    assert said in answer.json()["error"]["message"]
    assert files[0][0] in answer.json()["error"]["message"]


def prompt(*following):
    """The files of a prompt whose text is its second version, at revision 3."""
    item_id = str(new_id())
    state = {"title": "T", "description": "", "tags": [], "parameters": {}}
    made = {"userName": "Ann", "decidedAt": WHEN}
    lines = [{"type": "prompt", "id": item_id, "revision": 3, "createdAt": WHEN, "lastChangedAt": WHEN, **state}]
    for number, text in enumerate(("one", "two"), 1):
        version = {"type": "version", "id": str(new_id()), "version": number, "revision": number, "text": sha(text)}
        lines.append(version | made)
    lines += [{"type": "revision", "decidedAt": WHEN, **state, **given} for given in following]
    place = f"prompts/{item_id}"
    texts = [text_file(f"{place}/v1.md", "one"), text_file(f"{place}.md", "two")]
    return item_id, [*texts, (f"{place}.jsonl", "".join(json.dumps(line) + "\n" for line in lines))]


@proves("IMPORT-PARTIAL")
async def test_a_prompt_whose_revisions_were_not_kept_has_its_last_one(alice):
    prompt_id, files = prompt()
    assert (await archives.load(alice.client, files))["counts"]["created"] == 1
    answers = [await alice.client.get(f"/v1/prompts/{prompt_id}", params={"asOf": number}) for number in (1, 3)]
    assert [answer.status_code for answer in answers] == [404, 200]
    assert answers[1].json()["data"]["content"] == "two"
    versions = (await alice.client.get(f"/v1/prompts/{prompt_id}/versions")).json()["data"]
    assert [(version["content"], version["title"], version["variables"]) for version in versions] == [
        ("two", None, None),
        ("one", None, None),
    ]


@pytest.mark.parametrize("given", [{"revision": 3, "version": 2}, {"revision": 2, "version": 3}])
async def test_a_revision_of_a_prompt_that_cannot_be_is_refused(alice, given):
    _, files = prompt({"revision": 1, "version": 1}, given)
    answer = await archives.put(alice.client, await archives.start(alice.client), 1, files)
    assert (answer.status_code, f"revision {given['revision']}" in answer.text) == (400, True)


async def test_an_id_of_another_history_is_refused_and_no_fault(alice):
    (text, first), (other, second) = document(), document("Other.")
    stolen = json.loads(first[1].splitlines()[1])["id"]
    lines = second[1].splitlines()
    lines[1] = json.dumps(json.loads(lines[1]) | {"id": stolen})
    await archives.load(alice.client, [text, first])
    files = [other, (second[0], "\n".join(lines))]
    answer = await archives.put(alice.client, await archives.start(alice.client), 1, files)
    assert (answer.status_code, "another item's" in answer.text) == (400, True)


@proves("IMPORT-PARTIAL")
async def test_restoring_an_incomplete_revision_keeps_what_is_missing_and_warns(alice):
    item_id, old, new = str(new_id()), {"title": None, "tags": None, "text": sha("old")}, {"text": sha("new")}
    old |= {"decidedAt": "2023-01-01T00:00:00Z"}
    place = f"documents/{item_id}"
    files = [text_file(f"{place}/v1.md", "old"), text_file(f"{place}.md", "new")]
    await archives.load(alice.client, [*files, (f"{place}.jsonl", history(item_id, old, new))])
    url = f"/v1/documents/{item_id}"
    first = (await alice.client.get(f"{url}/versions")).json()["data"][-1]
    answer = await alice.client.post(f"{url}/restore", json={"versionId": first["id"], "expectedRevision": 2})
    assert answer.status_code == 200, answer.text
    warning = answer.json()["data"]["warnings"][0]
    assert (warning["code"], warning["fields"]) == ("LEGACY_PARTIAL_SNAPSHOT", ["title", "tags"])
    now = (await alice.client.get(url)).json()["data"]
    assert (now["title"], now["tags"], now["content"], now["revision"]) == ("T", ["t"], "old", 3)


async def test_history_keeps_its_names_and_times_but_never_lies_in_the_future(alice):
    item_id = str(new_id())
    place = f"documents/{item_id}"
    files = [text_file(f"{place}.md", "x")]
    records = history(item_id, {"text": sha("x"), "decidedAt": "2990-01-01T00:00:00Z"})
    await archives.load(alice.client, [*files, (f"{place}.jsonl", records)])
    version = (await alice.client.get(f"/v1/documents/{item_id}/versions")).json()["data"][0]
    read = (await alice.client.get(f"/v1/documents/{item_id}")).json()["data"]
    assert version["userName"] == "Ann"
    assert version["createdAt"] < 3_000_000_000_000
    assert read["createdAt"] == 1706933106000


@proves("EXPORT-RIGHTS")
async def test_imports_need_both_write_scopes_and_an_unrestricted_key(alice, make):
    half = make.client(await make.key(alice, scopes=("documents.write",)))
    answer = await half.post("/v1/imports")
    assert (answer.status_code, "prompts.write" in answer.text) == (403, True)
    kept = await make.collection(alice.client)
    narrow = await make.restricted(alice, kept["id"])
    assert (await narrow.client.post("/v1/imports")).status_code == 403


async def test_an_import_stays_within_the_plan(alice, make, monkeypatch):
    await make.plan(alice, "trial")
    client = make.client(await make.key(alice))
    files = [file for _ in range(101) for file in document()]
    answer = await archives.put(client, await archives.start(client), 1, files)
    assert (answer.status_code, answer.json()["error"]["details"]["meter"]) == (402, "documents")
    assert (await client.get("/v1/documents")).json()["data"] == []


async def test_texts_of_an_import_that_nobody_finished_are_forgotten(alice, database, sql):
    import_id = await archives.start(alice.client)
    await archives.put(alice.client, import_id, 1, document()[:1])
    count = "SELECT count(*) FROM import_texts WHERE workspace_id = $1"
    await jobs.sweep(Work(database, {}))
    assert await sql.fetchval(count, alice.workspace_id) == 1
    await sql.execute(
        "UPDATE imports SET created_at = created_at - interval '8 days' WHERE id = $1::text::uuid", import_id
    )
    while await queries.list_abandoned(database, 1):
        await jobs.sweep(Work(database, {}))
    assert await sql.fetchval(count, alice.workspace_id) == 0


@pytest.mark.parametrize("field", ["createdAt", "decidedAt"])
@pytest.mark.parametrize("when", ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
async def test_times_at_the_ends_of_the_calendar_are_refused(alice, field, when):
    import_id = await archives.start(alice.client)
    text, (place, lines) = document()
    assert WHEN in lines
    wrong = "".join(
        json.dumps(json.loads(line) | ({field: when} if field in json.loads(line) else {})) + "\n"
        for line in lines.splitlines()
    )
    answer = await archives.put(alice.client, import_id, 1, [text, (place, wrong)])
    assert (answer.status_code, answer.json()["error"]["reason"]) == (400, "INVALID_REQUEST")
    assert (await alice.client.get("/v1/documents")).json()["data"] == []


@proves("IMPORT-CHUNKS")
async def test_an_import_that_took_nothing_cannot_be_finished(alice):
    import_id = await archives.start(alice.client)
    assert (await archives.put(alice.client, import_id, 1, [("notes.txt", "x")])).status_code == 400
    refused = await alice.client.post(f"/v1/imports/{import_id}:finish")
    assert (refused.status_code, refused.json()["error"]["reason"]) == (409, "IMPORT_EMPTY")
    assert (await alice.client.get(f"/v1/imports/{import_id}")).json()["data"]["finished"] is False
    assert (await archives.put(alice.client, import_id, 1, document())).status_code == 200
    done = await alice.client.post(f"/v1/imports/{import_id}:finish")
    assert (done.status_code, done.json()["data"]["finished"]) == (200, True)


@pytest.mark.parametrize(
    ("url", "taken"),
    [
        ("https://example.test/ä?q=1#x", True),
        ("HTTP://example.test", True),
        ("javascript:alert(1)", False),
        ("JaVaScRiPt://example.test/%0aalert(1)", False),
        (" javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("java\nscript:alert(1)//http://", False),
        ("https://example.test\njavascript:alert(1)", False),
        ("//example.test", False),
        ("https://", False),
        ("", False),
    ],
)
async def test_a_source_is_an_address_of_the_web(alice, url, taken):
    item_id = str(new_id())
    files = [
        text_file(f"documents/{item_id}.md", "Text."),
        (f"documents/{item_id}.jsonl", history(item_id, {"text": sha("Text.")}, sourceUrl=url)),
    ]
    answer = await archives.put(alice.client, await archives.start(alice.client), 1, files)
    assert answer.status_code == (200 if taken else 400), answer.text
    if taken:
        assert (await alice.client.get(f"/v1/documents/{item_id}")).json()["data"]["sourceUrl"] == url
    else:
        assert "must be an http or https address" in answer.json()["error"]["message"]
