"""Files in the dashboard, sent as a browser without JavaScript sends them."""

from __future__ import annotations

import html
import re
from uuid import UUID

from app.features.uploads.errors import FileUnreadable
from tests.contract.requirements import proves
from tests.support import files
from tests.support.visitor import hidden, signed_in

UPLOAD = "/dashboard/documents/upload"


async def sent(person, *chosen, **fields):
    shown = await person.get(UPLOAD)
    token, once = (re.search(rf'name="{name}" value="([^"]+)"', shown.text)[1] for name in ("csrf", "once"))
    parts = [("file", one) for one in chosen]
    headers = {"origin": person.origin, "sec-fetch-site": "same-origin"} | fields.pop("headers", {})
    data = {"csrf": token, "once": once, "tags": "", "collection": ""} | fields
    return await person.client.post(UPLOAD, data=data, files=parts, headers=headers)


@proves("DASH-UPLOAD")
async def test_several_files_become_documents_and_one_that_cannot_be_read_says_why(service, make, alice):
    person = await signed_in(service, make, alice)
    word = files.docx("The keeper rang the bell")
    docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    answer = await sent(
        person, ("notes.docx", word, docx), ("a.md", b"# A\n", "text/markdown"), ("b.bin", b"\0\1", "x/y"), tags="sea"
    )
    assert answer.status_code == 200
    assert answer.text.count(">kept<") == 2
    assert re.search("Files like &#39;b.bin&#39; cannot be read.*Keep the text as a new document instead", answer.text)
    assert 'href="/dashboard/documents/new"' in answer.text
    made = (await alice.client.get("/v1/documents?tags=sea")).json()["data"]
    assert len(made) == 2
    here = next(html.unescape(path) for path in re.findall(r'href="(/dashboard/documents/[0-9a-f-]{36})"', answer.text))
    assert "Download the original" in (await person.get(here)).text
    original = await person.get(f"{here}/original")
    assert original.content == word
    assert original.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in original.headers["content-security-policy"]


async def test_a_file_that_our_page_did_not_send_is_refused(service, make, alice):
    person = await signed_in(service, make, alice)
    file = ("a.md", b"# A\n", "text/markdown")
    assert (await sent(person, file, csrf="0" * 64)).status_code == 403
    assert (await sent(person, file, headers={"sec-fetch-site": "cross-site"})).status_code == 403
    assert (await alice.client.get("/v1/documents")).json()["data"] == []


async def test_without_a_file_nothing_is_kept(service, make, alice):
    person = await signed_in(service, make, alice)
    answer = await sent(person, ("", b"", "application/octet-stream"))
    assert answer.status_code == 400
    assert "Choose one or more files first." in answer.text


@proves("DASH-UPLOAD")
async def test_a_file_that_turns_out_to_be_unreadable_says_on_its_page_what_to_do(service, make, alice, sql):
    person = await signed_in(service, make, alice)
    await sent(person, ("notes.txt", b"A text.", "text/plain"))
    (made,) = (await alice.client.get("/v1/documents")).json()["data"]
    why = f"{FileUnreadable('it holds no text')}"
    await sql.execute("UPDATE documents SET status = 'failed', status_reason = $2 WHERE id = $1", UUID(made["id"]), why)
    for path in (f"/dashboard/documents/{made['id']}", "/dashboard/documents"):
        shown = (await person.get(path)).text
        assert "The file cannot be read: it holds no text. Save it anew" in shown
        assert "keep its text as a new document instead." in shown
        assert "/v1/" not in shown
        assert ("could not be read" in shown, "not searchable" in shown) == (True, False)
        assert ("Find similar" in shown, "Ask about it" in shown) == (False, False)


@proves("DASH-UPLOAD")
async def test_a_file_that_was_not_read_yet_shows_no_version_and_nothing_to_restore(service, make, alice):
    person = await signed_in(service, make, alice)
    await sent(person, ("notes.txt", b"A text.", "text/plain"))
    (made,) = (await alice.client.get("/v1/documents")).json()["data"]
    here = f"/dashboard/documents/{made['id']}"
    assert "No text yet, revision 1" in (await person.get(here)).text
    assert "No version yet" in (await person.get(f"{here}/versions")).text
    (before,) = (await alice.client.get(f"/v1/documents/{made['id']}/revisions")).json()["data"]
    fields = hidden(await person.get(here), f"{here}/delete") | {"revision": "1"}
    refused = await person.send(f"{here}/versions/{before['id']}/restore", fields)
    assert (refused.status_code, "before its file was read" in refused.text) == (404, True)
