"""Front matter of files that are imported, and the way of documents out of an archive and in again as files."""

from __future__ import annotations

import pytest

from app.cli.frontmatter import Parts, split
from app.kit import archive
from tests.contract.requirements import proves

BODIES = ["# A\n\ntext\n", "\n\nbegins with empty lines", "---\nx: 1\n---\n", "crlf\r\nand lf\n", "\ufeff日本\u2028x"]


@proves("IMPORT-FRONTMATTER")
@pytest.mark.parametrize(
    ("head", "title", "tags"),
    [
        ("title: Fog horn\ntags: [light, sea]\n", "Fog horn", ["light", "sea"]),
        ("title: Fog\ntags:\n  - light\n  - 7\n  - light\n", "Fog", ["light", "7"]),
        ("tags: light, sea\n", None, ["light", "sea"]),
        ("title: 2026-05-01\n", "2026-05-01", []),
        ('title: "a: \\"b\\""\ntags: []\n', 'a: "b"', []),
        ("title:\ntags:\n", None, []),
        ("title: >-\n  folded\n  title\n", "folded title", []),
    ],
)
@pytest.mark.parametrize("body", BODIES)
def test_title_and_tags_are_taken_out_and_the_text_stays(head, title, tags, body):
    assert split(f"---\n{head}---\n\n{body}") == Parts(body, title, tags)
    crlf = head.replace("\n", "\r\n")
    assert split(f"---\r\n{crlf}---\r\n\r\n{body}") == Parts(body, title, tags)


def test_one_empty_line_below_belongs_to_the_front_matter_and_none_is_needed():
    assert split("---\ntitle: x\n---\ntext\n").text == "text\n"
    assert split("---\ntitle: x\n---\n\n\ntext").text == "\ntext"
    assert split("---\ntitle: x\n---").text == ""


@proves("IMPORT-FRONTMATTER")
def test_what_a_document_has_no_place_for_stays_in_its_text():
    content = "---\ntitle: x\ntags: [a]\nauthor: Ann\n---\n\ntext"
    assert split(content) == Parts(content, "x", ["a"])


@pytest.mark.parametrize(
    "content",
    [
        "no front matter",
        " ---\ntitle: x\n---\n",
        "---\n\n---\n\ntext",
        "---\njust words\n---\ntext",
        "---\n- a\n- b\n---\ntext",
        "---\ntitle: [unclosed\n---\ntext",
        "---\ntitle: x\ntext without an end",
        "---\n1: number\n---\ntext",
        "---\ntitle: 2026-99-99\ntags: 2026-99-99\n--\ntext",
        "---\n!!python/object/apply:os.system ['true']\n---\ntext",
        "---\nday: 2026-02-31\n---\ntext",
        "---\n" + "[" * 3000 + "\n---\ntext",
        "",
    ],
)
def test_what_is_no_front_matter_is_text(content):
    assert split(content) == Parts(content)


@proves("IMPORT-FRONTMATTER")
@pytest.mark.parametrize("body", [*BODIES, ""])
@pytest.mark.parametrize("title", ['T"0\u2028: {}', "- x", "é # no comment", "null", "true", "\x85nel"])
def test_a_file_of_an_archive_is_read_back(title, body):
    fields = {"id": "1", "title": title, "tags": ["a, b", "Ä"], "contentHash": "00", "sourceUrl": None}
    assert split(archive.with_front_matter(fields, body).decode()) == Parts(body, title.strip(), ["a, b", "Ä"])
