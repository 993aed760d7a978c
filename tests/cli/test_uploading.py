"""`ctx import` of files that the service reads: PDF, Office, code and the like."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from app.cli import uploading
from tests.cli.conftest import documents
from tests.contract.requirements import proves
from tests.features.uploads.test_upload import read_all
from tests.support import files

SAID = "The keeper rang the bell by hand"


@pytest.fixture
async def worker(alice, database):
    """Somebody who reads alice's files while the command waits."""

    async def work():
        while True:
            await read_all(database, alice)
            await asyncio.sleep(0.05)

    task = asyncio.create_task(work())
    yield
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "papers"
    made.mkdir()
    (made / "note.md").write_text("# Note\n\nA bell.\n", encoding="utf-8")
    (made / "report.pdf").write_bytes(files.pdf(SAID))
    (made / "letter.docx").write_bytes(files.docx(SAID))
    (made / "tool.py").write_text("print('bell')\n", encoding="utf-8")
    (made / "song.mp3").write_bytes(b"ID3")
    return made


def results(report):
    return {file["path"].rpartition("/")[2]: (file["result"], file["message"]) for file in report["files"]}


@proves("IMPORT-UPLOAD")
@pytest.mark.usefixtures("worker")
async def test_files_of_other_kinds_are_read_by_the_service_and_kept(ctx, alice, folder):
    code, report = await ctx.json("import", folder, "--tag", "papers")
    assert (code, report["counts"]) == (0, {"created": 4, "skipped": 1})
    assert results(report)["song.mp3"] == ("skipped", "is of no kind that can be read")
    made = {file["path"].rpartition("/")[2]: file["documentId"] for file in report["files"]}
    for name in ("report.pdf", "letter.docx"):
        path = f"/v1/documents/{made[name]}"
        read = (await alice.client.get(path)).json()["data"]
        assert SAID in read["content"]
        assert read["tags"] == ["papers"]
        assert (await alice.client.get(f"{path}/original")).content == (folder / name).read_bytes()
    code, report = await ctx.json("import", folder, "--tag", "papers")
    assert (code, report["counts"]) == (0, {"unchanged": 4, "skipped": 1})
    assert len(await documents(alice)) == 4


@proves("IMPORT-UPLOAD")
@pytest.mark.usefixtures("worker")
async def test_a_file_that_changed_becomes_another_document_and_the_first_is_named(ctx, alice, folder):
    first = {file["path"]: file["documentId"] for file in (await ctx.json("import", folder))[1]["files"]}
    pdf = str(folder / "report.pdf")
    (folder / "report.pdf").write_bytes(files.pdf("Another text"))
    code, report = await ctx.json("import", folder)
    assert (code, report["counts"]) == (0, {"created": 1, "unchanged": 3, "skipped": 1})
    (change,) = [file for file in report["files"] if file["path"] == pdf]
    assert first[pdf] in change["message"]
    assert change["documentId"] != first[pdf]
    await alice.client.delete(f"/v1/documents/{change['documentId']}")
    assert "1 created" in (await ctx("import", folder)).stdout


@proves("IMPORT-UPLOAD")
@pytest.mark.usefixtures("worker")
async def test_a_file_that_cannot_be_read_fails_with_its_reason_each_time(ctx, folder):
    (folder / "report.pdf").write_bytes(b"%PDF-1.7 nothing")
    (folder / "empty.json").write_bytes(b"")
    (folder / "large.csv").write_bytes(b"a,b\n" * 8 * 1024 * 1024)
    for created in ("created", "unchanged"):
        code, report = await ctx.json("import", folder)
        assert (code, report["counts"]) == (1, {created: 3, "failed": 2, "skipped": 2})
        found = results(report)
        assert "cannot be read" in found["report.pdf"][1]
        assert found["large.csv"][1].startswith("PAYLOAD_TOO_LARGE: ")
        assert found["empty.json"] == ("skipped", "is empty")


@proves("IMPORT-UPLOAD")
async def test_files_that_nobody_reads_in_time_are_said_to_be_still_read(ctx, folder, monkeypatch):
    monkeypatch.setattr(uploading, "PATIENCE_SECONDS", 0.0)
    result = await ctx("import", folder / "report.pdf", folder / "note.md")
    assert (result.exit_code, result.stdout) == (0, "2 created\n")
    assert f"{folder / 'report.pdf'}: is still being read." in result.stderr.replace("\n", "")
    again = await ctx("import", folder / "report.pdf")
    assert (again.stdout, "is still being read" in again.stderr.replace("\n", "")) == ("1 unchanged\n", True)


@proves("IMPORT-UPLOAD")
@pytest.mark.usefixtures("worker")
async def test_a_run_that_was_cut_off_uploads_no_file_twice(ctx, alice, folder, tmp_path):
    await ctx("import", folder)
    for memory in (tmp_path / "state").rglob("*.jsonl"):
        memory.unlink()
    assert (await ctx("import", folder)).exit_code == 0
    assert len(await documents(alice)) == 4


@proves("IMPORT-UPLOAD")
@pytest.mark.usefixtures("worker")
async def test_text_in_another_encoding_is_read_by_the_service(ctx, alice, tmp_path):
    folder = tmp_path / "old"
    folder.mkdir()
    said = {"latin.md": "cp1252", "log.txt": "utf-16", "new.md": "utf-8"}
    for name, encoding in said.items():
        (folder / name).write_bytes("Mr Müller wohnt in Köln".encode(encoding))
    (folder / "binary.md").write_bytes(bytes(range(256)))
    for result in ("created", "unchanged"):
        code, report = await ctx.json("import", folder)
        assert (code, report["counts"]) == (1, {result: 3, "failed": 1})
        assert "Save it as UTF-8 and upload it again" in results(report)["binary.md"][1]
    made = {file["path"].rpartition("/")[2]: file["documentId"] for file in report["files"]}
    for name in said:
        read = (await alice.client.get(f"/v1/documents/{made[name]}")).json()["data"]
        assert read["content"] == "Mr Müller wohnt in Köln"
    (folder / "latin.md").write_text("Mr Müller zog nach Bonn", encoding="utf-8")
    (folder / "binary.md").unlink()
    code, report = await ctx.json("import", folder)
    assert (code, report["counts"]) == (0, {"updated": 1, "unchanged": 2})
