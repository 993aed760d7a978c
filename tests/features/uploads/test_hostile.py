"""Files that are locked, bent, or larger than they look: each says what is wrong with it and what helps."""

from __future__ import annotations

import uuid

import pytest

from app.features.uploads.errors import FileUnreadable
from app.features.uploads.remote import Converter
from app.features.uploads.schemas import UploadedFile
from app.store.confined import Confined, Limits
from app.store.readers import Unreadable
from tests.contract.requirements import proves
from tests.support import files, hostile

SAID = "The keeper rang the bell by hand"
LOCKED = "protected by a password"
ANOTHER = "whatever its name says"
SMALLER = "Split it into smaller files"
NESTED = "nested too deeply"


async def read(name, content, **limits):
    file = UploadedFile(name=name, media_type="application/octet-stream", content=content)
    return (await Converter(Confined(limits=Limits(**limits))).convert(uuid.uuid4(), file)).content


@proves("UPLOAD-REFUSED")
@pytest.mark.parametrize(
    ("name", "content", "why", "step"),
    [
        ("a.pdf", hostile.locked_pdf(SAID, b"secret"), LOCKED, "without the password"),
        ("a.docx", hostile.OLE, LOCKED, "without the password"),
        ("a.xlsx", hostile.locked_archive(files.xlsx(SAID)), LOCKED, "without the password"),
        (
            "a.odt",
            files.archive({"content.xml": b"\x07\x11", "META-INF/manifest.xml": "<m:encryption-data/>"}),
            LOCKED,
            "without the password",
        ),
        ("a.docx", files.docx(SAID)[:-200], "cut short", "the whole file"),
        ("a.pptx", files.pptx(SAID)[:700], "cut short", "the whole file"),
        ("a.pdf", files.docx(SAID), ANOTHER, "the name that fits"),
        ("a.docx", files.pdf(SAID), "begins like a PDF", "the name that fits"),
        ("a.docx", files.xlsx(SAID), "what XLSX files hold", "the name that fits"),
        ("a.odt", files.docx(SAID), "what DOCX files hold", "the name that fits"),
        ("a.html", files.pdf(SAID), ANOTHER, "the name that fits"),
        ("a.csv", files.xlsx(SAID), ANOTHER, "the name that fits"),
        ("a.txt", files.pdf(SAID), ANOTHER, "the name that fits"),
        ("a.eml", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), ANOTHER, "the name that fits"),
        ("a.docx", b"<html>Hello</html>", "no DOCX file", "POST /v1/documents"),
        ("a.pdf", files.pdf(""), "no text", "OCR"),
        ("a.docx", files.docx(""), "no text", "POST /v1/documents"),
        ("a.docx", hostile.swollen_archive(files.docx(SAID)), "unpacks to too much", SMALLER),
        ("a.docx", files.docx("a" * 150_000_000), "unpacks to too much", SMALLER),
        ("a.docx", hostile.docx_with(hostile.billion_laughs(), "&l9;"), "no text", "POST /v1/documents"),
        ("a.html", b"<div>" * 2_000_000 + b"Said", NESTED, "another format"),
        ("a.html", b"<p>Head</p>" + b"<ul><li>" * 100 + b"Said", NESTED, "another format"),
    ],
    ids=[
        *("locked pdf", "locked docx", "locked archive", "locked odt", "cut docx", "cut pptx", "docx as pdf"),
        *("pdf as docx", "xlsx as docx", "docx as odt", "pdf as html", "xlsx as csv", "pdf as txt", "image as mail"),
        *("html as docx", "scan", "empty", "zip bomb", "large part", "xml bomb", "ten megabytes of tags", "deep lists"),
    ],
)
async def test_what_cannot_be_read_says_why_and_what_helps(name, content, why, step):
    with pytest.raises(FileUnreadable) as refused:
        await read(name, content)
    assert why in refused.value.message
    assert step in refused.value.message


async def test_a_pdf_that_is_locked_against_changes_alone_is_read():
    assert SAID in await read("a.pdf", hostile.locked_pdf(SAID, b""))


async def test_a_page_within_many_wrappers_loses_nothing():
    nested = b"<div><section>" * 400 + f"<p>{SAID}</p><p>And <b>left</b>.</p>".encode()
    assert await read("a.html", nested) == f"{SAID}\n\nAnd **left**.\n"


async def test_a_page_of_very_many_tags_fits_into_the_memory_of_a_reader():
    """The bound counts addresses; with a heap for each of the library's threads, those that nobody uses fill it."""
    assert (await read("a.html", f"<p>{SAID}</p>".encode() + b"<i></i>" * 1_300_000)).strip() == SAID


@proves("UPLOAD-BOUNDS")
async def test_a_pdf_of_very_many_pages_is_read_or_given_up_in_time():
    content = hostile.pdf_of_pages(SAID, 20_000)
    assert (await read("a.pdf", content)).count(SAID) == 20_000
    with pytest.raises(FileUnreadable, match=f"took too long. {SMALLER}"):
        await read("a.pdf", content, cpu_seconds=1)


@proves("UPLOAD-BOUNDS")
@pytest.mark.parametrize(
    ("name", "content"),
    [("a.csv", b"a,b,c\n" * 400_000), ("a.xlsx", files.xlsx("a", rows=400_000))],
    ids=["csv", "xlsx"],
)
async def test_a_table_that_takes_too_much_memory_says_so(name, content):
    with pytest.raises(FileUnreadable, match=f"too much memory. {SMALLER}"):
        await read(name, content, memory_bytes=256 * 1024 * 1024)


@proves("UPLOAD-BOUNDS")
async def test_an_entity_of_a_file_brings_no_file_of_the_machine():
    outside = '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    assert (await read("a.docx", hostile.docx_with(outside, "&x; said"))).strip() == "said"


def half(_options, _body):
    import os
    import signal
    import sys

    sys.stdout.buffer.write(b'{"found": {"content": "')
    sys.stdout.buffer.flush()
    os.kill(os.getpid(), signal.SIGKILL)


@proves("UPLOAD-BOUNDS")
async def test_a_reader_that_ends_in_the_middle_of_its_answer_gives_none():
    with pytest.raises(Unreadable, match="took too long"):
        await Confined().call(uuid.uuid4(), f"{__name__}:half", {}, b"")
