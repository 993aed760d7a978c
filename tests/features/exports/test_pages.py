"""Export and import in the dashboard: out of one workspace, into another."""

from __future__ import annotations

import gzip
import re

from app.kit import archive
from tests.contract.requirements import proves
from tests.support import archives
from tests.support.visitor import signed_in

EXPORT = "/dashboard/export"


async def imported(person, content):
    shown = await person.get(EXPORT)
    token = re.search(r'action="/dashboard/import".*?name="csrf" value="([^"]+)"', shown.text, re.DOTALL)[1]
    headers = {"origin": person.origin, "sec-fetch-site": "same-origin"}
    files = {"file": ("a.tar.gz", content, "application/gzip")}
    return await person.client.post("/dashboard/import", data={"csrf": token}, files=files, headers=headers)


@proves("DASH-EXPORT")
async def test_an_archive_is_written_downloaded_and_taken_in_elsewhere(service, make, alice, bob):
    person = await signed_in(service, make, alice)
    document = await make.document(alice.client, title="Travels", content="far\n")
    begun = await person.fill(EXPORT)
    here = begun.headers["location"]
    running = await person.get(here)
    assert "data-running" in running.text
    assert '<meta http-equiv="refresh"' in running.text
    await make.export(alice, here.rpartition("/")[2])
    ready = await person.get(here)
    assert "data-running" not in ready.text
    written = await person.get(f"{here}/content")
    assert written.headers["content-type"] == "application/gzip"
    assert written.headers["content-disposition"].startswith("attachment")
    await alice.client.delete(f"/v1/documents/{document['id']}")
    await alice.client.delete(f"/v1/trash/{document['id']}")
    other = await signed_in(service, make, bob)
    answer = await imported(other, written.content)
    assert answer.status_code == 200, answer.text
    found = (await bob.client.get("/v1/documents")).json()["data"]
    assert [one["title"] for one in found] == ["Travels"]
    again = await imported(other, written.content)
    assert re.search(r"Here before, left as they are</dt><dd>1<", again.text)


async def test_what_is_no_archive_is_refused_in_words(service, make, alice):
    person = await signed_in(service, make, alice)
    for content in (b"no archive", b"\x1f\x8b" + b"\0" * 100):
        answer = await imported(person, content)
        assert answer.status_code == 422
        assert "no archive of an export" in answer.text


async def test_an_archive_with_an_uploaded_file_is_taken_whole_and_a_cut_one_not_at_all(service, make, alice, bob):
    file = ("notes.bin.md", "# Ä\n".encode() * 400_000, "text/markdown")
    sent = await alice.client.post("/v1/documents/upload", files={"file": file})
    content = await archives.export(make, alice)
    other = await signed_in(service, make, bob)
    cut = await imported(other, gzip.compress(gzip.decompress(content).removesuffix(archive.END)))
    assert (cut.status_code, "cut short" in cut.text) == (422, True)
    assert (await bob.client.get("/v1/documents")).json()["data"] == []
    assert (await imported(other, content)).status_code == 200
    original = await bob.client.get(f"/v1/documents/{sent.json()['data']['id']}/original")
    assert original.content == file[1]
