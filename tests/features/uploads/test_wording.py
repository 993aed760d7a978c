"""Nothing of a file is left out, and its title is one that a person gave it."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.features.uploads import converting
from app.features.uploads.wording import lacks_nothing, title_of, unescaped, with_headings
from app.kit.kinds import media_type_of
from tests.contract.requirements import proves
from tests.support import files

LINES = [f"Paragraph {number}: the blade number {number} was inspected on day {number * 3}." for number in range(1, 61)]
TABLE = ["Part Mass", "Rotor 40 kg", "Stator 55 kg"]
PRINTED = [["Turbine report", *LINES[:26]], LINES[26:54], [*LINES[54:], *TABLE]]


def read(kind, body):
    return converting.convert({"kind": kind}, body)


@proves("UPLOAD-WHOLE")
def test_a_printed_page_keeps_each_line_up_to_its_edges_and_in_order():
    found = read("pdf", files.pdf_of_lines(PRINTED, "about:blank"))
    said = [line.lstrip("# ") for line in found["content"].splitlines() if line]
    assert said == [line for page in PRINTED for line in page]
    assert found["title"] is None  # no heading is sure here: the library took it all for a table


@proves("UPLOAD-WHOLE", "UPLOAD-TITLE")
def test_what_a_browser_printed_keeps_each_line_its_headings_and_its_table_as_text():
    found = read("pdf", (Path(__file__).parent / "printed.pdf").read_bytes())
    said = [line.lstrip("# ") for line in found["content"].splitlines() if line]
    items = ["one item", "two item"]
    assert said == ["Turbine report", "The keeper rang the bell by hand.", *LINES, "Table", *TABLE, *items]
    assert found["content"].startswith("# Turbine report\n\nThe keeper")
    assert found["title"] == "Turbine report"  # and not about:blank


@proves("UPLOAD-WHOLE")
def test_what_stands_on_every_page_of_a_pdf_is_kept():
    pages = [["Confidential: for the keeper", *LINES[at : at + 20], "Printed in Bergen"] for at in (0, 20, 40)]
    content = read("pdf", files.pdf_of_lines(pages))["content"]
    assert content.count("Confidential: for the keeper") == content.count("Printed in Bergen") == 3
    assert all(line in " ".join(content.split()) for line in LINES)


class Said:
    def __init__(self, content):
        self.content, self.metadata = content, {}


@proves("UPLOAD-WHOLE")
@pytest.mark.parametrize(
    ("markdown", "kept"),
    [("# Log\n\nThe **bell** rang.", "markdown"), ("# Log\n\nThe **bell**.", "plain")],
    ids=["whole", "lacking"],
)
def test_of_two_readings_the_one_that_lacks_words_is_not_kept(markdown, kept, monkeypatch):
    readings = {"markdown": Said(markdown), "plain": Said("Log\n\nThe bell rang.")}
    monkeypatch.setattr(converting, "_extract", lambda _kind, _body, form: readings[form])
    assert read("docx", files.docx("x"))["content"] == readings[kept].content


@pytest.mark.parametrize(
    ("markdown", "plain", "expected"),
    [
        ("a **b** [c](d)", "a b c", True),
        ("eindringlich", "ein dringlich", True),
        ("snake\\_case", "snake_case", True),
        ("one", "one one", False),
        ("abouttiblank said", "about:blank said", False),
        ("said twice twice", "said once twice", False),
    ],
)
def test_words_are_compared_and_where_one_is_divided_its_letters(markdown, plain, expected):
    assert lacks_nothing(markdown, plain) is expected


def test_only_whole_lines_that_stand_once_become_headings():
    markdown = "# Log\n\n## went home.\n\n## Twice\n\n### He went"
    text = with_headings("Log\nHe went home.\nTwice\nTwice\nHe went and", markdown)
    assert text == "# Log\n\nHe went home.\nTwice\nTwice\nHe went and\n"


@proves("UPLOAD-TITLE")
@pytest.mark.parametrize(
    "given",
    [
        *("about:blank", "https://x.example/a?b", "file:///tmp/a.html"),
        *("Untitled", "untitled-2", "Document1", " "),
        *("Microsoft Word - notes of may.docx", "PowerPoint Presentation.ppt", "report_final.tex"),
        *("C:\\notes\\log", "/tmp/x y"),
    ],
)
def test_what_a_program_fills_in_is_no_title(given):
    assert title_of(given, {"title": given, "subject": given}, "## B\n\n# The head\n") == "The head"
    assert title_of(None, {"title": given}, "No heading.\n") is None


@pytest.mark.parametrize(
    "given", ["TCP/IP in a day", "Notes on Node.js", "Untitled works of Bach", "About: blank pages"]
)
def test_what_a_person_called_a_file_is_its_title(given):
    assert title_of(None, {"title": f" {given}\n"}, "# Other") == given


@proves("UPLOAD-TITLE")
def test_a_text_takes_its_heading_and_a_sheet_not_its_name():
    body = files.docx_of(("Normal", "A cover"), ("Heading2", "Part"), ("Heading1", "The log"), ("Normal", "Said."))
    assert read("docx", body)["title"] == "The log"
    assert read("xlsx", files.xlsx("Said"))["title"] is None
    assert read("pdf", files.pdf_of_lines([LINES[:5]], "Untitled"))["title"] is None


@proves("UPLOAD-ORIGINAL")
@pytest.mark.parametrize(
    ("name", "sent", "expected"),
    [
        ("a.pdf", "application/octet-stream", "application/pdf"),
        ("a.MD", "application/octet-stream", "text/markdown"),
        ("a.py", "application/octet-stream", "text/plain"),
        ("a.pdf", "application/x-own", "application/x-own"),
        ("what", "application/octet-stream", "application/octet-stream"),
    ],
)
def test_a_file_that_was_sent_without_a_media_type_has_that_of_its_kind(name, sent, expected):
    assert media_type_of(name, sent) == expected


@pytest.mark.parametrize(
    ("escaped", "said"),
    [
        (r"мир\! Это \!", "мир! Это !"),
        (r"\![x](y) \!\[x\]", r"\![x](y) !\[x\]"),
        (r"a\\\! b\\! \#", r"a\\! b\\! \#"),
        ("`a\\!` \\! ``b`\\!`` \\` c\\!", "`a\\!` ! ``b`\\!`` \\` c!"),
        ("```sh\n\\!\n```\n\\!\n", "```sh\n\\!\n```\n!\n"),
    ],
)
def test_a_needless_escape_is_left_out_and_nothing_else(escaped, said):
    assert unescaped(escaped) == said


SHOUTED = "мир! Это"
WITH_SHOUT = [
    ("csv", f"Name\n{SHOUTED}\n".encode()),
    ("eml", b"Subject: Hi! you\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n" + SHOUTED.encode()),
    ("docx", files.docx(SHOUTED)),
    ("odt", files.odt(SHOUTED)),
    ("pptx", files.pptx(SHOUTED)),
    ("xlsx", files.xlsx(SHOUTED)),
    ("html", f"<p>{SHOUTED}</p>".encode()),
]


@pytest.mark.parametrize(("kind", "body"), WITH_SHOUT)
def test_a_text_with_an_exclamation_mark_is_found_literally(kind, body):
    content = read(kind, body)["content"]
    assert SHOUTED in content
    assert "\\!" not in content
