"""The wire form of documents: create, read, list, change, restore, delete."""

from __future__ import annotations

import hashlib
import time
import uuid

import pytest

from tests.contract.requirements import proves

LIST_FIELDS = {
    "id",
    "title",
    "status",
    "sourceType",
    "tags",
    "currentVersion",
    "revision",
    "contentHash",
    "createdAt",
    "lastChangedAt",
}
ACK_FIELDS = {"id", "title", "currentVersion", "revision", "contentHash", "lastChangedAt", "noop"}


def hash_of(title, content, tags):
    parts = (title, content, "\x1f".join(tags))
    return hashlib.sha256(b"".join(hashlib.sha256(part.encode()).digest() for part in parts)).hexdigest()


@proves("DOC-9", "ENV-ONE", "REV-HASH", "ENV-TIMES")
async def test_create_answers_201_with_the_whole_document(alice):
    before = time.time() * 1000 - 5000
    answer = await alice.client.post(
        "/v1/documents", json={"title": "T ü", "content": "# Ä\n", "tags": ["b", "a", "b"]}
    )
    data = answer.json()["data"]
    assert answer.status_code == 201
    assert set(answer.json()) == {"data"}
    assert data.keys() == LIST_FIELDS | {"content", "policy"}
    assert (data["status"], data["revision"], data["currentVersion"]) == ("pending", 1, 1)
    assert (data["title"], data["content"], data["tags"]) == ("T ü", "# Ä\n", ["b", "a"])
    assert data["contentHash"] == hash_of("T ü", "# Ä\n", ["b", "a"])
    assert isinstance(data["createdAt"], int)
    assert before < data["createdAt"] < before + 60_000
    assert answer.headers["location"] == f"/v1/documents/{data['id']}"
    assert answer.headers["etag"] == f'"r1-{data["contentHash"][:16]}"'
    assert answer.headers["cache-control"] == "no-store"


@proves("DOC-10", "REV-READ")
async def test_a_read_equals_what_was_created(alice, make):
    made = await make.document(alice.client, title="T", content="text\r\n\twith\u2028odd", tags=["x"])
    answer = await alice.client.get(f"/v1/documents/{made['id']}")
    assert answer.status_code == 200
    assert answer.json()["data"] | {"etag": answer.headers["etag"]} == made
    assert answer.headers["cache-control"] == "private, no-cache"


async def test_a_body_is_one_line_of_compact_json(alice, make):
    made = await make.document(alice.client, content="two\nlines")
    answer = await alice.client.get(f"/v1/documents/{made['id']}")
    assert b"\n" not in answer.content
    assert answer.headers["content-type"] == "application/json"


async def test_an_empty_text_is_a_document(alice, make):
    assert (await make.document(alice.client, content=""))["content"] == ""


@proves("DOC-10-304")
@pytest.mark.parametrize("status", ["ready", "failed"])
async def test_a_current_tag_answers_304_once_the_status_is_final(alice, make, sql, status):
    made = await make.document(alice.client)
    await sql.execute("UPDATE documents SET status = $2 WHERE id = $1", uuid.UUID(made["id"]), status)
    url = f"/v1/documents/{made['id']}"
    for tag in (made["etag"], f"W/{made['etag']}", f'"other", {made["etag"]}', "*"):
        answer = await alice.client.get(url, headers={"if-none-match": tag})
        assert (answer.status_code, answer.content) == (304, b"")
        assert answer.headers["etag"] == made["etag"]
    assert (await alice.client.get(url, headers={"if-none-match": '"r9-0123456789abcdef"'})).status_code == 200


@proves("DOC-10-304")
@pytest.mark.parametrize("status", ["pending", "processing"])
async def test_a_current_tag_answers_200_while_the_status_may_change(alice, make, sql, status):
    made = await make.document(alice.client)
    await sql.execute("UPDATE documents SET status = $2 WHERE id = $1", uuid.UUID(made["id"]), status)
    answer = await alice.client.get(f"/v1/documents/{made['id']}", headers={"if-none-match": made["etag"]})
    assert answer.status_code == 200


@proves("DOC-11", "REV-OPTIONAL")
async def test_a_patch_changes_what_it_names_and_keeps_the_rest(alice, make):
    made = await make.document(alice.client, title="Old", content="text", tags=["a"])
    url = f"/v1/documents/{made['id']}"
    answer = await alice.client.patch(url, json={"content": "new text", "changeLog": "why"})
    ack = answer.json()["data"]
    assert answer.status_code == 200
    assert ack.keys() == ACK_FIELDS
    assert (ack["revision"], ack["currentVersion"], ack["noop"], ack["title"]) == (2, 2, False, "Old")
    read = await alice.client.get(url)
    data = read.json()["data"]
    assert (data["title"], data["content"], data["tags"]) == ("Old", "new text", ["a"])
    assert ack["contentHash"] == data["contentHash"] == hash_of("Old", "new text", ["a"])
    assert read.headers["etag"] == answer.headers["etag"]
    assert data["lastChangedAt"] == ack["lastChangedAt"] >= data["createdAt"]


@proves("REV-VERSION")
@pytest.mark.parametrize("change", [{"title": "New"}, {"tags": ["b"]}, {"tags": []}], ids=str)
async def test_a_change_of_title_or_tags_makes_a_revision_and_no_version(alice, make, change):
    made = await make.document(alice.client, tags=["a"])
    url = f"/v1/documents/{made['id']}"
    ack = (await alice.client.patch(url, json=change)).json()["data"]
    assert (ack["revision"], ack["currentVersion"]) == (2, 1)
    assert len((await alice.client.get(f"{url}/versions")).json()["data"]) == 1
    data = (await alice.client.get(url)).json()["data"]
    assert all(data[name] == value for name, value in change.items())


async def test_a_change_makes_the_index_work_pending_again(alice, make, sql):
    made = await make.document(alice.client)
    await sql.execute("UPDATE documents SET status = 'ready' WHERE id = $1", uuid.UUID(made["id"]))
    await alice.client.patch(f"/v1/documents/{made['id']}", json={"content": "new"})
    assert (await alice.client.get(f"/v1/documents/{made['id']}")).json()["data"]["status"] == "pending"


@proves("REV-NOOP")
async def test_a_write_that_changes_nothing_says_noop_and_makes_no_revision(alice, make, sql):
    made = await make.document(alice.client, title="T", content="c", tags=["a", "b"])
    url = f"/v1/documents/{made['id']}"
    count = "SELECT count(*) FROM audit WHERE object_id = $1"
    before = await sql.fetchval(count, uuid.UUID(made["id"]))
    for body in ({"title": "T"}, {"content": "c"}, {"tags": ["a", "b", "a"]}, {}, {"changeLog": "nothing"}):
        answer = await alice.client.patch(url, json=body)
        ack = answer.json()["data"]
        assert (answer.status_code, ack["noop"], ack["revision"]) == (200, True, 1)
        assert answer.headers["etag"] == made["etag"]
    assert await sql.fetchval(count, uuid.UUID(made["id"])) == before


async def test_another_order_of_tags_is_a_change(alice, make):
    made = await make.document(alice.client, tags=["a", "b"])
    ack = (await alice.client.patch(f"/v1/documents/{made['id']}", json={"tags": ["b", "a"]})).json()["data"]
    assert (ack["noop"], ack["revision"]) == (False, 2)


@proves("DOC-13", "DOC-14")
async def test_a_restore_is_a_new_revision_and_keeps_the_versions_between(alice, make):
    made = await make.document(alice.client, title="First", content="one", tags=["a"])
    url = f"/v1/documents/{made['id']}"
    await alice.client.patch(url, json={"title": "Second", "content": "two", "tags": ["b"], "changeLog": "why two"})
    versions = (await alice.client.get(f"{url}/versions")).json()["data"]
    assert [(v["version"], v["content"], v["changeLog"]) for v in versions] == [(2, "two", "why two"), (1, "one", None)]
    assert versions[0]["userName"] == alice.email.partition("@")[0]
    answer = await alice.client.post(f"{url}/restore", json={"versionId": versions[1]["id"], "expectedRevision": 2})
    ack = answer.json()["data"]
    assert (answer.status_code, ack["revision"], ack["currentVersion"]) == (200, 3, 3)
    assert ack.keys() == ACK_FIELDS
    data = (await alice.client.get(url)).json()["data"]
    assert (data["title"], data["content"], data["tags"]) == ("First", "one", ["a"])
    assert [v["version"] for v in (await alice.client.get(f"{url}/versions")).json()["data"]] == [3, 2, 1]


async def test_a_restore_of_the_current_state_is_a_noop(alice, make):
    made = await make.document(alice.client)
    url = f"/v1/documents/{made['id']}"
    version = (await alice.client.get(f"{url}/versions")).json()["data"][0]["id"]
    ack = (await alice.client.post(f"{url}/restore", json={"versionId": version})).json()["data"]
    assert (ack["noop"], ack["revision"]) == (True, 1)


async def test_a_version_that_lacks_fields_keeps_their_current_values_and_warns(alice, make, sql):
    made = await make.document(alice.client, title="First", content="one", tags=["a"])
    url = f"/v1/documents/{made['id']}"
    await alice.client.patch(url, json={"title": "Second", "content": "two", "tags": ["b"]})
    await sql.execute(
        "UPDATE document_revisions SET tags = NULL, title = NULL WHERE document_id = $1 AND revision = 1",
        uuid.UUID(made["id"]),
    )
    first = await sql.fetchval(
        "SELECT id FROM document_revisions WHERE document_id = $1 AND revision = 1", uuid.UUID(made["id"])
    )
    ack = (await alice.client.post(f"{url}/restore", json={"versionId": str(first)})).json()["data"]
    assert [(w["code"], w["fields"]) for w in ack["warnings"]] == [("LEGACY_PARTIAL_SNAPSHOT", ["title", "tags"])]
    data = (await alice.client.get(url)).json()["data"]
    assert (data["title"], data["content"], data["tags"]) == ("Second", "one", ["b"])
    versions = await alice.client.get(f"{url}/versions")
    assert versions.status_code == 200, versions.text


@proves("DOC-14-404")
async def test_an_unknown_version_is_404_and_a_malformed_one_400(alice, bob, make):
    made = await make.document(alice.client)
    other = await make.document(alice.client)
    other_version = (await alice.client.get(f"/v1/documents/{other['id']}/versions")).json()["data"][0]["id"]
    url = f"/v1/documents/{made['id']}/restore"
    for version, status in ((str(uuid.uuid4()), 404), (other_version, 404), ("not-an-id", 400), (7, 400), (None, 400)):
        assert (await alice.client.post(url, json={"versionId": version})).status_code == status
    assert (await alice.client.post(url, json={})).status_code == 400


@proves("DOC-12", "ERR-404")
async def test_a_deleted_document_is_404_everywhere(alice, make):
    made = await make.document(alice.client, title="Deleted title")
    url = f"/v1/documents/{made['id']}"
    version = (await alice.client.get(f"{url}/versions")).json()["data"][0]["id"]
    gone = await alice.client.delete(url)
    assert (gone.status_code, gone.content) == (204, b"")
    assert (await alice.client.delete(url)).status_code == 404
    assert (await alice.client.get(url)).status_code == 404
    assert (await alice.client.get(f"{url}/versions")).status_code == 404
    assert (await alice.client.patch(url, json={"title": "Again"})).status_code == 404
    assert (await alice.client.post(f"{url}/restore", json={"versionId": version})).status_code == 404
    assert (await alice.client.get("/v1/documents")).json()["data"] == []


@pytest.mark.parametrize("name", ["nonsense", "0", "%2e%2e", "x" * 5000, "ü", "0192f0c1"])
async def test_an_id_that_is_none_is_not_found(alice, name):
    for answer in (
        await alice.client.get(f"/v1/documents/{name}"),
        await alice.client.patch(f"/v1/documents/{name}", json={"title": "T"}),
        await alice.client.delete(f"/v1/documents/{name}"),
        await alice.client.get(f"/v1/documents/{name}/versions"),
    ):
        assert (answer.status_code, answer.json()["error"]["reason"]) == (404, "NOT_FOUND")


async def test_every_change_leaves_one_revision_event_and_audit_line_and_a_waiting_job(alice, make, sql):
    made = await make.document(alice.client)
    url = f"/v1/documents/{made['id']}"
    await alice.client.patch(url, json={"title": "New"}, headers={"x-request-id": "request-0001", "x-agent-id": "bot"})
    await alice.client.delete(url)
    by_object = "SELECT topic, revision FROM {} WHERE workspace_id = $1 AND object_id = $2 ORDER BY created_at"
    expected = [("document.created", 1), ("document.changed", 2), ("document.deleted", 2)]
    for table in ("events", "audit"):
        rows = await sql.fetch(by_object.format(table), alice.workspace_id, uuid.UUID(made["id"]))
        assert [tuple(row) for row in rows] == expected, table
    line = await sql.fetchrow(
        "SELECT * FROM audit WHERE workspace_id = $1 AND revision = 2 AND agent = 'bot'", alice.workspace_id
    )
    assert (line["operation"], line["request_id"], line["user_id"]) == ("documents.update", "request-0001", alice.id)
    jobs = await sql.fetchval("SELECT count(*) FROM pgqueuer WHERE payload LIKE $1", f"%{alice.workspace_id}%".encode())
    assert jobs == 1  # the waiting one stands for the later ones
