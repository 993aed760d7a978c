"""Edits of parts of a document over both wires, and what a refused write learns about the other one."""

from __future__ import annotations

import asyncio

import pytest

from tests.contract.requirements import proves
from tests.edge.mcp.wire import MODERN_ERA

TEXT = "# Guide\n\nIntro.\n\n## Install\n\nRun it.\n\n## Notes\n\nFirst.\n"
INSTALL = {"op": "replace", "section": "Install", "text": "Click."}
APPEND = {"op": "insert", "text": "End."}


async def patch(client, made, body, **headers):
    return await client.patch(f"/v1/documents/{made['id']}", json=body, headers=headers)


async def content_of(client, made):
    return (await client.get(f"/v1/documents/{made['id']}")).json()["data"]["content"]


async def tool(client, name, arguments, path="/mcp"):
    answer = await MODERN_ERA.send(client, "tools/call", {"name": name, "arguments": arguments}, path=path)
    return answer.json()["result"]


@proves("EDIT-PARTS")
async def test_edits_change_parts_and_leave_every_other_byte(alice, make):
    made = await make.document(alice.client, content=TEXT)
    answer = await patch(alice.client, made, {"edits": [INSTALL, APPEND]})
    assert (answer.status_code, answer.json()["data"]["revision"]) == (200, 2)
    assert await content_of(alice.client, made) == TEXT.replace("Run it.", "Click.") + "End."


@proves("EDIT-TOOL")
async def test_the_tool_edits_and_needs_the_revision(alice, make):
    made = await make.document(alice.client, content=TEXT)
    sent = {"documentId": made["id"], "edits": [INSTALL]}
    assert (await tool(alice.client, "update_document", sent))["structuredContent"]["error"]["code"] == 400
    done = await tool(alice.client, "update_document", sent | {"expectedRevision": 1})
    assert done["structuredContent"]["data"]["revision"] == 2
    assert await content_of(alice.client, made) == TEXT.replace("Run it.", "Click.")


async def test_edits_may_come_as_the_text_of_a_list(alice, make):
    made = await make.document(alice.client, content="a")
    sent = {"documentId": made["id"], "expectedRevision": 1, "edits": '[{"op": "insert", "text": "b"}]'}
    assert not (await tool(alice.client, "update_document", sent)).get("isError")
    assert await content_of(alice.client, made) == "a\nb"


@pytest.mark.parametrize("keyed", [False, True])
@proves("EDIT-ATOMIC")
async def test_one_edit_without_a_place_leaves_all_undone(alice, make, keyed):
    made = await make.document(alice.client, content=TEXT)
    headers = {"Idempotency-Key": f"edit-{made['id']}"} if keyed else {}
    answer = await patch(alice.client, made, {"edits": [APPEND, INSTALL | {"section": "Nowhere"}]}, **headers)
    error = answer.json()["error"]
    assert (answer.status_code, error["reason"]) == (409, "EDIT_NOT_APPLICABLE")
    assert error["details"]["edit"] == 1
    assert [item["path"] for item in error["details"]["found"]["sections"]] == [
        "Guide",
        "Guide > Install",
        "Guide > Notes",
    ]
    assert await content_of(alice.client, made) == TEXT
    assert (await patch(alice.client, made, {"edits": [APPEND]}, **headers)).json()["data"]["revision"] == 2


@pytest.mark.parametrize(
    "body",
    [
        {"edits": []},
        {"edits": [{"op": "replace", "text": "x"}]},
        {"edits": [{"op": "replace", "find": "x"}]},
        {"edits": [{"op": "delete", "find": "x", "text": "y"}]},
        {"edits": [{"op": "insert", "text": "x", "position": "before"}]},
        {"edits": [{"op": "insert", "find": "x", "text": "y", "position": "start"}]},
        {"edits": [{"op": "delete", "find": ""}]},
        {"edits": [{"op": "delete", "find": "x", "more": 1}]},
        {"edits": [APPEND] * 101},
        {"edits": None},
        {"edits": [APPEND], "content": "x"},
    ],
)
async def test_an_edit_that_makes_no_sense_is_refused(alice, make, body):
    made = await make.document(alice.client)
    answer = await patch(alice.client, made, body)
    assert (answer.status_code, answer.json()["error"]["reason"]) == (400, "INVALID_REQUEST"), answer.text


@proves("EDIT-BASE")
async def test_a_precondition_guards_edits_as_it_guards_a_whole_write(alice, make):
    made = await make.document(alice.client, content=TEXT)
    assert (await patch(alice.client, made, {"edits": [APPEND], "expectedRevision": 1})).status_code == 200
    for body, headers, status in (
        ({"expectedRevision": 1}, {}, 409),
        ({}, {"If-Match": made["etag"]}, 412),
        ({"expectedRevision": 1}, {"Idempotency-Key": f"stale-{made['id']}"}, 409),
    ):
        answer = await patch(alice.client, made, {"edits": [INSTALL], **body}, **headers)
        assert (answer.status_code, answer.json()["error"]["reason"]) == (status, "REVISION_MISMATCH")
    answer = await patch(alice.client, made, {"edits": [{"op": "replace", "find": "End.", "text": "End."}]})
    assert answer.json()["data"]["noop"] is True


@proves("EDIT-LOCK")
async def test_eight_writers_append_at_once_and_no_line_is_lost(alice, make, twin):
    made = await make.document(alice.client, content="")
    clients = [alice.client, type(make)(twin, None).client(alice.key)]

    async def write(number):
        for line in range(50):
            edits = [{"op": "insert", "text": f"{number}-{line}\n"}]
            answer = await patch(clients[number % 2], made, {"edits": edits})
            while answer.status_code == 503:  # beyond the lock timeout on a loaded machine: nothing was written
                answer = await patch(clients[number % 2], made, {"edits": edits})
            assert answer.status_code == 200, answer.text

    await asyncio.gather(*(write(number) for number in range(8)))
    found = (await alice.client.get(f"/v1/documents/{made['id']}")).json()["data"]
    assert sorted(found["content"].splitlines()) == sorted(f"{n}-{line}" for n in range(8) for line in range(50))
    assert found["revision"] == 401


@proves("EDIT-LOCK")
async def test_a_keyed_append_sent_twice_at_once_is_made_once(alice, make):
    made = await make.document(alice.client, content="")
    key = {"Idempotency-Key": f"append-{made['id']}"}
    answers = await asyncio.gather(*(patch(alice.client, made, {"edits": [APPEND]}, **key) for _ in range(4)))
    assert {answer.content for answer in answers} == {answers[0].content}
    assert await content_of(alice.client, made) == "End."


async def test_edits_of_an_absent_or_managed_document_are_refused_as_writes_are(alice, bob, make):
    made = await make.document(alice.client, content=TEXT)
    assert (await patch(bob.client, made, {"edits": [APPEND]})).status_code == 404
    policy = {"policy": "lease_required"}
    url = f"/v1/documents/{made['id']}/coordination"
    await alice.client.put(url, json=policy, headers={"If-Match": made["etag"]})
    answer = await patch(alice.client, made, {"edits": [{"op": "delete", "section": "Nowhere"}]})
    assert answer.json()["error"]["reason"] == "LEASE_REQUIRED"


async def test_a_content_cannot_be_made_larger_than_a_whole_one_may_be(alice, make):
    made = await make.document(alice.client, content="é" * 2_700_000)
    answer = await patch(alice.client, made, {"edits": [{"op": "insert", "text": "é" * 2_700_000}]})
    assert (answer.status_code, answer.json()["error"]["reason"]) == (413, "PAYLOAD_TOO_LARGE")


@pytest.mark.parametrize("edits", [False, True])
@proves("REV-MERGED")
async def test_a_mismatch_carries_both_changes_and_their_merge(alice, make, edits):
    made = await make.document(alice.client, content=TEXT)
    await patch(alice.client, made, {"content": TEXT.replace("First.", "1st.")})
    mine = {"edits": [INSTALL]} if edits else {"content": TEXT.replace("Run it.", "Click.")}
    answer = await patch(alice.client, made, mine | {"expectedRevision": 1})
    details = answer.json()["error"]["details"]
    assert (details["currentRevision"], details["baseRevision"], details["overlaps"]) == (2, 1, [])
    assert details["merged"] == TEXT.replace("First.", "1st.").replace("Run it.", "Click.")
    assert "-First.\n+1st.\n" in details["theirs"]
    assert "-Run it.\n+Click.\n" in details["yours"]
    accepted = await patch(alice.client, made, {"content": details["merged"], "expectedRevision": 2})
    assert accepted.json()["data"]["revision"] == 3


@proves("REV-MERGED")
async def test_a_mismatch_over_one_line_shows_where_they_overlap(alice, make):
    made = await make.document(alice.client, content=TEXT)
    current = await patch(alice.client, made, {"content": TEXT.replace("First.", "1st.")})
    stale = {"content": TEXT.replace("First.", "One.")}
    answer = await patch(alice.client, made, stale, **{"If-Match": made["etag"], "Idempotency-Key": made["id"]})
    assert (answer.status_code, answer.headers["etag"]) == (412, current.headers["etag"])
    details = answer.json()["error"]["details"]
    assert details["overlaps"] == [{"fromLine": 11, "toLine": 11}]
    assert "merged" not in details


async def test_a_mismatch_of_large_texts_stays_small(alice, make):
    text = "".join(f"line {number}\n" for number in range(20_000))
    made = await make.document(alice.client, content=text)
    await patch(alice.client, made, {"content": text.replace("line", "row")})
    answer = await patch(alice.client, made, {"content": text.replace("line", "entry"), "expectedRevision": 1})
    assert answer.status_code == 409
    assert len(answer.content) < 100_000
    assert answer.json()["error"]["details"]["theirs"].endswith("@@ cut at 20000 characters @@\n")


async def test_sections_of_a_text_with_too_many_headings_are_refused_with_the_reason(alice, make):
    made = await make.document(alice.client, content="".join(f"# h{n}\n" for n in range(10_001)))
    url = f"/v1/documents/{made['id']}"
    answer = await alice.client.patch(url, json={"edits": [{"op": "insert", "section": "h5", "text": "x"}]})
    assert (answer.status_code, "too many lines or headings" in answer.text) == (409, True), answer.text
    answer = await alice.client.patch(url, json={"edits": [{"op": "replace", "find": "# h5\n", "text": "# h five\n"}]})
    assert answer.status_code == 200
