"""Documents as they were, and what differs between two revisions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.contract.requirements import proves
from tests.edge.mcp.wire import MODERN_ERA
from tests.support.visitor import signed_in

FIRST = "# A\n\none\n\n# B\n\ntwo\n"
SECOND = "# A\n\n1\n\n# B\n\ntwo\n\n# C\n\nthree\n"


async def history(user, make):
    """Three revisions: the content, then the title and tags."""
    made = await make.document(user.client, title="Old", content=FIRST, tags=["x"])
    url = f"/v1/documents/{made['id']}"
    await user.client.patch(url, json={"content": SECOND})
    await user.client.patch(url, json={"title": "New", "tags": ["y"]})
    return url


async def at(client, url, value):
    return await client.get(url, params={"asOf": value})


@proves("DOC-10-AS-OF")
async def test_a_revision_reads_as_it_was(alice, make):
    url = await history(alice, make)
    first, second, third = [(await at(alice.client, url, n)).json()["data"] for n in (1, 2, 3)]
    assert (first["title"], first["content"], first["tags"], first["revision"]) == ("Old", FIRST, ["x"], 1)
    assert (second["title"], second["content"], second["currentVersion"]) == ("Old", SECOND, 2)
    assert third == (await alice.client.get(url)).json()["data"]
    assert (await at(alice.client, url, 1)).headers["etag"] == f'"r1-{first["contentHash"][:16]}"'


@proves("DOC-10-AS-OF")
async def test_a_time_reads_the_last_revision_by_then(alice, make):
    url = await history(alice, make)
    versions = (await alice.client.get(f"{url}/versions")).json()["data"]
    for shown in (versions[1]["createdAt"], str(versions[1]["createdAt"])):  # cut to the millisecond
        assert (await at(alice.client, url, shown)).json()["data"]["revision"] == 1
    text = datetime.fromtimestamp((versions[1]["createdAt"] + 1) / 1000, UTC).isoformat().replace("+00:00", "Z")
    assert (await at(alice.client, url, text)).json()["data"]["revision"] == 1
    later = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    assert (await at(alice.client, url, later)).json()["data"]["revision"] == 3


@pytest.mark.parametrize("value", [4, 99_999_999_999, "2001-01-01T00:00:00Z", "978307200000"])
@proves("DOC-10-AS-OF")
async def test_what_never_was_is_404(alice, make, value):
    url = await history(alice, make)
    answer = await at(alice.client, url, value)
    assert (answer.status_code, answer.json()["error"]["message"][:8]) == (404, "Revision")


@pytest.mark.parametrize(
    "value", ["0", "-1", "", "now", "2026-05-01", "2026-05-01T12:00:00", "1.5", "9" * 16, "9" * 41]
)
async def test_what_is_no_point_in_time_is_400(alice, make, value):
    made = await make.document(alice.client)
    answer = await at(alice.client, f"/v1/documents/{made['id']}", value)
    assert (answer.status_code, answer.json()["error"]["details"][0]["field"]) == (400, "asOf")


@proves("DOC-10-AS-OF")
async def test_the_tool_reads_an_earlier_revision(alice, make):
    url = await history(alice, make)
    for value in (1, "1"):
        call = {"name": "get_document", "arguments": {"documentId": url.rpartition("/")[2], "asOf": value}}
        result = (await MODERN_ERA.send(alice.client, "tools/call", call)).json()["result"]
        assert result["structuredContent"]["data"]["content"] == FIRST


async def test_the_trash_has_no_past(alice, make):
    url = await history(alice, make)
    await alice.client.delete(url)
    answers = [await at(alice.client, url, 1), await alice.client.get(f"{url}/diff", params={"from": 1})]
    assert [(a.status_code, a.json()["error"]["message"][:8]) for a in answers] == [(404, "Document")] * 2


@proves("IMPORT-PARTIAL")
async def test_a_revision_that_an_import_kept_in_part_is_told_as_such_and_its_text_compared(service, alice, make, sql):
    url = await history(alice, make)
    document_id = url.rpartition("/")[2]
    lose = "UPDATE document_revisions SET title = NULL, tags = NULL WHERE document_id = $1 AND revision = 1"
    await sql.execute(lose, document_id)
    refused = await at(alice.client, url, 1)
    error = refused.json()["error"]
    assert (refused.status_code, error["details"]) == (404, {"revision": 1, "fields": ["title", "tags"]})
    assert "import" in error["message"]
    tool = await MODERN_ERA.call(alice.client, "get_document", {"documentId": document_id, "asOf": "1"})
    assert "not found" in tool["content"][0]["text"]
    assert "get_document_versions" in tool["content"][0]["text"]
    assert (await at(alice.client, url, 2)).status_code == 200
    compared = (await alice.client.get(f"{url}/diff", params={"from": 1})).json()["data"]
    assert (compared["oldTitle"], compared["oldTags"], compared["newTitle"]) == (None, None, "New")
    assert "-one" in compared["unified"]
    person = await signed_in(service, make, alice)
    page = await person.get(f"/dashboard/documents/{document_id}/diff?from=1&to=3")
    assert (page.status_code, page.text.count("not kept by the import"), "None" in page.text) == (200, 2, False)
    await sql.execute(
        "UPDATE document_revisions SET content_digest = NULL WHERE document_id = $1 AND revision = 1", document_id
    )
    textless = await alice.client.get(f"{url}/diff", params={"from": 1})
    assert (textless.status_code, textless.json()["error"]["details"]["fields"][-1]) == (404, "content")


@proves("DOC-REVISIONS")
async def test_every_revision_is_listed_newest_first_and_page_by_page(alice, bob, make):
    url = await history(alice, make)
    page = (await alice.client.get(f"{url}/revisions")).json()
    told = [(row["revision"], row["version"], row["contentChanged"], row["title"], row["tags"]) for row in page["data"]]
    assert told == [(3, 2, False, "New", ["y"]), (2, 2, True, "Old", ["x"]), (1, 1, True, "Old", ["x"])]
    assert page["pagination"] == {"cursor": None, "hasMore": False}
    for row in page["data"]:
        then = (await at(alice.client, url, row["createdAt"])).json()["data"]
        assert (then["revision"], then["contentHash"]) == (row["revision"], row["contentHash"])
    walked, cursor = [], None
    while cursor is not None or not walked:
        answer = await alice.client.get(
            f"{url}/revisions", params={"limit": 1} | ({"cursor": cursor} if cursor else {})
        )
        walked += answer.json()["data"]
        cursor = answer.json()["pagination"]["cursor"]
    assert walked == page["data"]
    assert (await bob.client.get(f"{url}/revisions")).status_code == 404


@proves("DOC-DIFF")
async def test_a_diff_tells_lines_sections_title_and_tags(alice, make):
    url = await history(alice, make)
    data = (await alice.client.get(f"{url}/diff", params={"from": 1})).json()["data"]
    assert (data["fromRevision"], data["toRevision"], data["truncated"]) == (1, 3, False)
    assert (data["oldTitle"], data["newTitle"], data["oldTags"], data["newTags"]) == ("Old", "New", ["x"], ["y"])
    assert data["sections"] == [
        {"path": ["A"], "change": "changed"},
        {"path": ["B"], "change": "changed"},
        {"path": ["C"], "change": "added"},
    ]
    assert data["hunks"][0] == {
        "oldStart": 3,
        "oldLines": 1,
        "newStart": 3,
        "newLines": 1,
        "section": ["A"],
        "removed": ["one\n"],
        "added": ["1\n"],
    }
    assert data["unified"].startswith("@@ -1,7 +1,11 @@\n # A\n \n-one\n+1\n")


@proves("DOC-DIFF")
async def test_a_diff_goes_backwards_and_to_itself(alice, make):
    url = await history(alice, make)
    back = (await alice.client.get(f"{url}/diff", params={"from": 2, "to": 1})).json()["data"]
    assert back["sections"][-1] == {"path": ["C"], "change": "removed"}
    same = (await alice.client.get(f"{url}/diff", params={"from": 2, "to": 2})).json()["data"]
    assert (same["hunks"], same["sections"], same["unified"]) == ([], [], "")


@proves("DOC-DIFF")
async def test_a_long_diff_is_cut_and_says_so(alice, make):
    text = "".join(f"line {number}\n" for number in range(90_000))
    made = await make.document(alice.client, content=text)
    await alice.client.patch(f"/v1/documents/{made['id']}", json={"content": text.replace("line", "row")})
    answer = await alice.client.get(f"/v1/documents/{made['id']}/diff", params={"from": 1})
    assert answer.json()["data"]["truncated"] is True
    assert len(answer.content) < 3_000_000


async def test_another_tenants_revisions_do_not_exist(alice, bob, make):
    url = await history(alice, make)
    assert (await at(bob.client, url, 1)).status_code == 404
    assert (await bob.client.get(f"{url}/diff", params={"from": 1})).status_code == 404


@pytest.mark.parametrize("when", ["9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+01:00", "0001-01-01T00:00:00Z"])
async def test_times_beyond_the_calendar_are_refused(alice, make, when):
    url = f"/v1/documents/{(await make.document(alice.client))['id']}"
    assert (await alice.client.get(url, params={"asOf": when})).status_code == 400
    assert (await alice.client.get(f"{url}/diff", params={"from": when})).status_code == 400
