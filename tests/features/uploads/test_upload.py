"""Files become documents, and are kept."""

from __future__ import annotations

import asyncio
import hashlib
import json
import subprocess
import sys
import uuid

import pytest

from app.features.documents.schemas import Status
from app.features.plans.service import Allowances
from app.features.uploads import queries, service
from app.features.uploads.remote import Converter
from app.gate.policy import Plans
from app.kit.errors import Unavailable
from app.kit.kinds import MEDIA_TYPES
from app.store.confined import Confined, Limits
from app.store.readers import Unreadable
from tests.contract.requirements import proves
from tests.support import compound, files

WORKSPACE = uuid.uuid4()
SAID = "The keeper rang the bell by hand"


def upload(user, name, content, media_type="application/octet-stream", key=None, **fields):
    headers = {"idempotency-key": key} if key else {}
    sent = {"file": (name, content, media_type)}
    return user.client.post("/v1/documents/upload", files=sent, data=fields, headers=headers)


@pytest.fixture
def kept(alice, database):
    """Upload a file, let the worker's part read it, and give the document as it is then."""

    async def keep(name, content, media_type="application/octet-stream", **fields):
        answer = await upload(alice, name, content, media_type, **fields)
        assert answer.status_code == 202, answer.text
        await read_all(database, alice)
        return (await alice.client.get(answer.headers["location"])).json()["data"]

    return keep


def reading(database, user, converter=None):
    allowances = Allowances(database, Plans.load(), "self-hosted")
    return service.Reading(database, converter or Converter(Confined()), allowances, user.workspace_id)


async def read_all(database, user, converter=None):
    while await reading(database, user, converter).read_files():
        pass


def refusal(answer):
    return answer.status_code, answer.json()["error"]["reason"]


@proves("UPLOAD")
async def test_a_file_becomes_a_document_named_after_it(alice, database, index):
    body = f"# Log\n\n{SAID}.\n"
    answer = await upload(alice, "C:\\notes\\log of ships.md", body.encode(), tags="sea,old")
    assert answer.status_code == 202, answer.text
    made = answer.json()["data"]
    assert (made["title"], made["content"], made["tags"]) == ("log of ships.md", "", ["sea", "old"])
    assert (made["sourceType"], made["status"], made["revision"]) == ("file", "processing", 1)
    assert made["statusReason"] == service.WAITING
    assert answer.headers["location"] == f"/v1/documents/{made['id']}"
    assert (await alice.client.get(f"/v1/documents/{made['id']}")).json()["data"] == made
    await index.run(alice.workspace_id)  # the index waits for the text
    found = (await alice.client.get("/v1/search", params={"q": "keeper"})).json()
    assert (found["data"]["documents"], found["meta"]["pending"]) == ([], 1)
    await read_all(database, alice)
    read = (await alice.client.get(f"/v1/documents/{made['id']}")).json()["data"]
    assert (read["content"], read["status"], read["revision"], read["tags"]) == (body, "pending", 2, ["sea", "old"])
    await index.run(alice.workspace_id)
    found = (await alice.client.get("/v1/search", params={"q": "keeper"})).json()
    assert (found["data"]["documents"][0]["documentId"], found["meta"]["pending"]) == (made["id"], 0)
    versions = (await alice.client.get(f"/v1/documents/{made['id']}/versions")).json()["data"]
    assert [(one["version"], one["revision"], one["content"]) for one in versions] == [(1, 2, body)]
    assert await index.faults(alice.workspace_id) == []


@proves("UPLOAD")
async def test_what_was_there_before_a_file_was_read_is_no_version_and_cannot_be_restored(alice, kept):
    made = await kept("log.md", b"# Log\n")
    here = f"/v1/documents/{made['id']}"
    assert (made["revision"], made["currentVersion"]) == (2, 1)
    before = (await alice.client.get(f"{here}/revisions")).json()["data"][-1]
    assert (before["revision"], before["version"], before["contentChanged"]) == (1, 0, False)
    answer = await alice.client.post(f"{here}/restore", json={"versionId": before["id"], "expectedRevision": 2})
    assert (answer.status_code, "before its file was read" in answer.text) == (404, True), answer.text
    assert (await alice.client.get(here)).json()["data"]["content"] == "# Log\n"


@proves("UPLOAD", "ERR-413")
async def test_a_file_may_be_as_large_as_the_limit_and_no_larger(alice):
    limit = 10 * 1024 * 1024
    assert (await upload(alice, "a.txt", b"x" * limit, tags="as,large,as,can,be")).status_code == 202
    for size in (limit + 1, 2 * limit):
        answer = await upload(alice, "a.pdf", b"x" * size)
        assert refusal(answer) == (413, "PAYLOAD_TOO_LARGE")
        assert answer.json()["error"]["details"] == {"limitBytes": limit}
        assert "divide the text or the file" in answer.json()["error"]["message"]


EACH_KIND = [
    ("a.pdf", files.pdf(SAID)),
    ("a.docx", files.docx(SAID)),
    ("a.pptx", files.pptx(SAID)),
    ("a.xlsx", files.xlsx(SAID)),
    ("a.odt", files.odt(SAID)),
    ("a.ods", files.ods(SAID)),
    ("a.msg", compound.msg("Bells", SAID)),
    ("a.tsv", f"year\ttext\n1899\t{SAID}\n".encode()),
    ("a.htm", f"<p>{SAID}</p>".encode()),
    ("a.epub", files.epub(SAID)),
    ("a.ipynb", files.notebook(SAID)),
    ("a.eml", files.mail(SAID)),
    ("a.html", f"<html><head><title>T</title></head><body><h1>H</h1><p>{SAID}</p></body></html>".encode()),
    ("a.csv", f"year,text\n1899,{SAID}\n".encode()),
    ("a.json", json.dumps({"said": SAID}).encode()),
    ("a.py", f'print("{SAID}")\n'.encode()),
    ("a.txt", SAID.encode("utf-16")),
    ("a.rtf", rb"{\rtf1\ansi " + SAID.encode() + b"}"),
]


@proves("UPLOAD-KINDS")
async def test_every_kind_that_a_refusal_offers_is_among_those_that_are_proved(alice):
    offered = (await upload(alice, "a.exe", b"MZ")).json()["error"]["message"]
    proved = {name.rpartition(".")[2] for name, _ in EACH_KIND}
    assert proved >= MEDIA_TYPES.keys()
    for kind in MEDIA_TYPES.keys() - {"htm"}:
        assert {"ipynb": "notebooks"}.get(kind, kind.upper()) in offered, kind


@proves("UPLOAD-KINDS")
@pytest.mark.parametrize(("name", "content"), EACH_KIND, ids=lambda value: value if isinstance(value, str) else "")
async def test_each_kind_is_read(name, content, kept):
    made = await kept(name, content)
    assert SAID in made["content"]
    assert (made["status"], made.get("statusReason")) == ("pending", None)


@proves("UPLOAD-KINDS")
async def test_tables_code_and_titles_keep_their_form(kept):
    assert "| 1 | 2 |" in (await kept("a.csv", b"a,b\n1,2\n"))["content"]
    assert (await kept("a.rs", b"let a = 1; // ```\n"))["content"] == "````rust\nlet a = 1; // ```\n````\n"
    page = await kept("x.htm", b"<title>Its title</title><p>Some <b>bold</b> text</p>")
    assert (page["title"], page["content"].strip()) == ("Its title", "Some **bold** text")
    assert (await kept("b.epub", files.epub(SAID)))["title"] == "The Book"
    assert (await kept("b.epub", files.epub(SAID), title="Mine"))["title"] == "Mine"


async def test_a_name_without_an_ending_is_judged_by_its_media_type(kept):
    assert (await kept("README", b"read me", "text/plain; charset=utf-8"))["content"] == "read me"


@proves("UPLOAD-REFUSED")
@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [("a.exe", b"MZ\x00\x01", (415, "UNSUPPORTED_MEDIA_TYPE")), ("a.txt", b"", (400, "INVALID_REQUEST"))],
    ids=["kind", "empty"],
)
async def test_what_no_reader_knows_is_refused_at_once_and_nothing_is_kept(name, content, expected, alice, sql):
    answer = await upload(alice, name, content)
    assert refusal(answer) == expected, answer.text
    assert "file" in answer.json()["error"]["details"][0]["field"]
    for table in ("documents", "blobs"):
        assert await sql.fetchval(f"SELECT count(*) FROM {table} WHERE workspace_id = $1", alice.workspace_id) == 0


@proves("UPLOAD-REFUSED")
@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.pdf", b"%PDF-1.7 and nothing more", "PDF"),
        ("a.docx", b"PK\x03\x04 and nothing more", "cut short"),
        ("a.xlsx", files.archive({"x": "y"}), "XLSX"),
        ("a.txt", b"\x00\x01\x02\x03" * 50, "no text"),
        ("a.txt", b" \n ", "no text"),
    ],
    ids=["pdf", "docx", "xlsx", "binary", "blank"],
)
async def test_what_cannot_be_read_has_failed_with_the_reason(name, content, why, alice, kept, index):
    made = await kept(name, content)
    assert (made["status"], made["content"], made["revision"]) == ("failed", "", 1)
    assert made["statusReason"].startswith("The file cannot be read: ")
    assert why in made["statusReason"]
    await index.run(alice.workspace_id)
    assert (await index.status(made["id"]))[0] == "failed"
    assert (await alice.client.get(f"/v1/documents/{made['id']}/original")).content == content


@proves("UPLOAD-REFUSED")
@pytest.mark.parametrize(
    ("body", "content_type", "status"),
    [
        (b'{"title": "x"}', "application/json", 415),
        (b"x", "multipart/form-data", 415),
        (b"--x\r\nno form", "multipart/form-data; boundary=x", 400),
        (b"", "multipart/form-data; boundary=x", 400),
        (b"--x\r\n" + b"A: b\r\n" * 5000 + b"\r\n--x--\r\n", "multipart/form-data; boundary=x", 400),
        (
            b"--x\r\nContent-Disposition: form-data\r\n\r\na\r\n" * 50 + b"--x--\r\n",
            "multipart/form-data; boundary=x",
            400,
        ),
        (
            b'--x\r\nContent-Disposition: form-data; name="file"; filename="\xff.md"\r\n\r\na\r\n--x--\r\n',
            "multipart/form-data; boundary=x",
            400,
        ),
    ],
    ids=["json", "no boundary", "cut", "empty", "headers", "parts", "name"],
)
async def test_what_is_no_form_with_a_file_is_refused(body, content_type, status, alice):
    headers = {"content-type": content_type}
    answer = await alice.client.post("/v1/documents/upload", content=body, headers=headers)
    assert answer.status_code == status, answer.text


async def test_tags_may_be_a_part_each_and_what_is_one_or_unknown_may_not(alice):
    assert (await upload(alice, "a.md", b"x", tags=["a", "b", "c"])).json()["data"]["tags"] == ["a", "b", "c"]
    assert refusal(await upload(alice, "a.md", b"x", title=["a", "b"])) == (400, "INVALID_REQUEST")
    assert refusal(await upload(alice, "a.md", b"x", color="red")) == (400, "INVALID_REQUEST")
    two = [("file", ("a.md", b"a", "text/plain")), ("file", ("b.md", b"b", "text/plain"))]
    assert refusal(await alice.client.post("/v1/documents/upload", files=two)) == (400, "INVALID_REQUEST")


@proves("UPLOAD-ORIGINAL")
async def test_the_same_bytes_are_kept_once_until_the_last_document_is_purged(alice, bob, sql):
    body = files.docx(SAID)
    made = [(await upload(alice, name, body)).json()["data"]["id"] for name in ("a.docx", "b.docx")]
    await upload(bob, "c.docx", body)
    kept = "SELECT digest, content FROM blobs WHERE workspace_id = $1"
    row = await sql.fetchrow(kept, alice.workspace_id)
    assert (bytes(row["digest"]), bytes(row["content"])) == (hashlib.sha256(body).digest(), body)
    for document_id, left in zip(made, (1, 0), strict=True):
        await alice.client.delete(f"/v1/documents/{document_id}")
        purged = await alice.client.delete(f"/v1/trash/{document_id}")
        assert purged.status_code == 200, purged.text
        assert len(await sql.fetch(kept, alice.workspace_id)) == left
    assert len(await sql.fetch(kept, bob.workspace_id)) == 1


@proves("UPLOAD-ORIGINAL")
async def test_the_original_is_given_back_as_an_attachment_byte_for_byte(alice, make):
    body = files.docx(SAID)
    made = (await upload(alice, "Zwölf 'Schiffe'.docx", body, "text/html; x=y")).json()["data"]
    answer = await alice.client.get(f"/v1/documents/{made['id']}/original")
    assert (answer.status_code, answer.content) == (200, body)
    assert answer.headers["content-type"] == "text/html"
    unnamed = (await upload(alice, "a.docx", body)).json()["data"]
    answer_of_kind = await alice.client.get(f"/v1/documents/{unnamed['id']}/original")
    assert answer_of_kind.headers["content-type"] == MEDIA_TYPES["docx"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    said = answer.headers["content-disposition"]
    assert said == "attachment; filename*=UTF-8''Zw%C3%B6lf%20%27Schiffe%27.docx"
    tag = answer.headers["etag"]
    again = await alice.client.get(f"/v1/documents/{made['id']}/original", headers={"if-none-match": tag})
    assert (again.status_code, again.content) == (304, b"")
    text = await make.document(alice.client)
    assert refusal(await alice.client.get(f"/v1/documents/{text['id']}/original")) == (404, "NOT_FOUND")


@proves("EFFECT-REPLAY")
async def test_a_replay_answers_the_same_and_another_file_under_the_key_is_refused(alice, database):
    first = await upload(alice, "a.md", b"one", key="k")
    await read_all(database, alice)
    again = await upload(alice, "a.md", b"one", key="k")
    assert (again.content, again.headers["idempotency-replayed"]) == (first.content, "true")
    assert refusal(await upload(alice, "a.md", b"two", key="k")) == (422, "IDEMPOTENCY_KEY_REUSED")
    assert len((await alice.client.get("/v1/documents")).json()["data"]) == 1


class Interrupted(BaseException):
    """What the end of a worker looks like from inside."""


class Converters:
    """A reader that does something else before it reads, or instead."""

    def __init__(self, first):
        self.first, self.calls = first, 0

    async def convert(self, workspace_id, file):
        self.calls += 1
        if self.calls == 1:
            await self.first()
        return await Converter(Confined()).convert(workspace_id, file)


@proves("UPLOAD-LATER")
async def test_a_write_made_while_the_file_is_read_stays(alice, database, index):
    made = (await upload(alice, "a.md", SAID.encode())).json()["data"]
    url = f"/v1/documents/{made['id']}"

    async def meddle():
        assert (await alice.client.patch(url, json={"content": "Mine.", "title": "Mine"})).status_code == 200

    await read_all(database, alice, Converters(meddle))
    await index.run(alice.workspace_id)
    now = (await alice.client.get(url)).json()["data"]
    assert (now["content"], now["title"], now["status"], now["revision"]) == ("Mine.", "Mine", "ready", 2)


@proves("UPLOAD-LATER")
async def test_a_title_given_meanwhile_stays_and_the_text_comes(alice, database):
    made = (await upload(alice, "x.htm", b"<title>Its title</title><p>Text</p>")).json()["data"]
    url = f"/v1/documents/{made['id']}"
    await alice.client.patch(url, json={"title": "Mine"})
    await read_all(database, alice)
    now = (await alice.client.get(url)).json()["data"]
    assert (now["title"], now["content"].strip(), now["revision"]) == ("Mine", "Text", 3)


@proves("UPLOAD-LATER")
async def test_a_file_in_the_trash_is_read_when_it_comes_back(alice, database, index):
    made = (await upload(alice, "a.md", SAID.encode())).json()["data"]
    url = f"/v1/documents/{made['id']}"

    async def meddle():
        await alice.client.delete(url)

    await read_all(database, alice, Converters(meddle))
    await alice.client.post(f"/v1/trash/{made['id']}/restore")
    await read_all(database, alice)
    await index.run(alice.workspace_id)
    now = (await alice.client.get(url)).json()["data"]
    assert (now["content"], now["status"]) == (SAID, "ready")


@proves("UPLOAD-LATER")
async def test_a_reader_that_ends_without_a_word_is_followed_by_another_and_not_for_ever(alice, database, sql):
    made = (await upload(alice, "a.md", SAID.encode())).json()["data"]
    for _ in range(service.MAX_STARTS):
        async with database.tx(alice.workspace_id) as tx:
            assert await queries.claim_file(tx, 0, "reading") is not None  # and its worker is gone
    assert alice.workspace_id in await queries.list_waiting_workspaces(database)
    await read_all(database, alice)
    now = (await alice.client.get(f"/v1/documents/{made['id']}")).json()["data"]
    assert now["status"] == Status.FAILED
    assert "3 times" in now["statusReason"]


@proves("UPLOAD-LATER")
@pytest.mark.parametrize("end", [Interrupted(), Unavailable("full", retry_after=1)], ids=["stopped", "full"])
async def test_a_reading_that_was_cut_off_is_done_again_and_not_counted(end, alice, database, sql):
    made = (await upload(alice, "a.md", SAID.encode())).json()["data"]

    async def fall():
        raise end

    converter = Converters(fall)
    if isinstance(end, Interrupted):
        with pytest.raises(Interrupted):
            await reading(database, alice, converter).read_files()
    else:
        assert not await reading(database, alice, converter).read_files()
    assert await sql.fetchval("SELECT starts FROM document_files WHERE document_id = $1", made["id"]) == 0
    await read_all(database, alice, converter)
    assert (await alice.client.get(f"/v1/documents/{made['id']}")).json()["data"]["content"] == SAID


def bomb(size):
    """A document of a few kilobytes whose text is as large as `size`."""
    return files.docx("a" * size)


@proves("UPLOAD-BOUNDS")
async def test_a_file_that_unpacks_to_a_lot_is_refused(kept):
    content = bomb(100_000_000)
    assert len(content) < 1_000_000
    assert (await kept("bomb.docx", content))["status"] == "failed"


def spin(_options, _body):
    while True:
        pass


def grow(_options, _body):
    return {"content": "x" * 2_000_000_000}


def write(options, _body):
    from pathlib import Path

    Path(options["path"]).write_text("x", encoding="utf-8")
    return {"content": "x"}


def look(_options, _body):
    import os

    return {"content": json.dumps(dict(os.environ))}


@proves("UPLOAD-BOUNDS")
@pytest.mark.parametrize("reader", ["spin", "grow", "write"])
async def test_a_reader_is_bounded_in_time_memory_and_files(reader, tmp_path):
    confined = Confined(limits=Limits(cpu_seconds=1, seconds=20, memory_bytes=512 * 1024 * 1024))
    with pytest.raises(Unreadable):
        await confined.call(WORKSPACE, f"{__name__}:{reader}", {"path": str(tmp_path / "left")}, b"")


def flood(_options, _body):
    import sys

    while True:
        sys.stdout.buffer.write(b"x" * 65_536)


@proves("UPLOAD-BOUNDS")
async def test_a_reader_that_says_too_much_is_ended_though_its_pipe_is_full():
    confined = Confined(limits=Limits(answer_bytes=1))
    async with asyncio.timeout(15):
        with pytest.raises(Unreadable, match="too large"):
            await confined.call(WORKSPACE, f"{__name__}:flood", {}, b"")


@proves("UPLOAD-BOUNDS")
async def test_readers_of_one_workspace_leave_a_turn_to_the_others():
    confined = Confined(limits=Limits(seconds=15))
    greedy = [asyncio.create_task(confined.call(WORKSPACE, f"{__name__}:spin", {}, b"")) for _ in range(3)]
    found = await confined.call(uuid.uuid4(), f"{__name__}:look", {}, b"")
    assert "content" in found
    assert not any(task.done() for task in greedy[1:])
    for task in greedy:
        task.cancel()
    await asyncio.gather(*greedy, return_exceptions=True)


async def test_a_reader_knows_nothing_of_the_service(monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "secret")
    found = await Confined().call(WORKSPACE, f"{__name__}:look", {}, b"")
    assert "secret" not in found["content"]


@pytest.mark.parametrize("name", ["a.md", "a.py"])
def test_a_reader_of_plain_text_loads_no_library(name):
    """To start is most of what a small file costs: the libraries of other kinds took four times as long as the rest."""
    program = f"""
import sys
from app.store import readers
from app.features.uploads.converting import convert
convert({{"kind": {name.rpartition(".")[2]!r}}}, b"# A")
print(*{{"asyncio", "importlib.metadata", "pydantic", "markdown_it", "kreuzberg", "lxml"}} & set(sys.modules))
"""
    said = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == ""
