"""Pages that are hard to read: what is made of them, and the reason where nothing is."""

from __future__ import annotations

import pytest

from app.features.scrape.extracting import read_page
from app.store.readers import Unreadable

SAID = "The keeper rang the bell at noon, and the ships came in. "
PAGE = f"<html><head><title>Bells</title></head><body><article><p>{SAID * 9}</p></article></body></html>"


def read(body, charset=None):
    return read_page({"url": "https://example.test/", "charset": charset}, body)


@pytest.mark.parametrize("charset", ["utf-16", "utf-16-be", "utf-32", "cp037", "no-such", "utf-8", None])
def test_a_page_whose_server_names_another_charset_is_read_all_the_same(charset):
    assert SAID.strip() in read(PAGE.encode(), charset)["content"]


@pytest.mark.parametrize("depth", [400, 300_000])
def test_a_page_whose_tags_nest_too_deeply_is_refused_for_that(depth):
    with pytest.raises(Unreadable, match="nested too deeply"):
        read(b"<html><body>" + b"<div>" * depth + SAID.encode() * 9)


def test_a_page_without_text_is_refused_for_that():
    with pytest.raises(Unreadable, match="holds no text"):
        read(b"<html><body><script>1</script></body></html>")


XHTML = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">
<html xmlns="http://www.w3.org/1999/xhtml"><body><p>ü</p></body></html>"""


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("<p>v</p>", "v\n"),
        ("<h1>t</h1>", "# t\n"),
        ("plain words", "plain words\n"),
        (f"<!-- {'-' * 80} --><body><p>v</p></body>", "v\n"),
        (XHTML, "ü\n"),
        (XHTML.replace("?>", "?><!-- c -->", 1), "ü\n"),
    ],
)
def test_what_its_server_calls_html_is_read_as_html_however_small(page, said):
    assert read(page.encode())["content"] == said


def test_an_empty_page_is_refused_for_that():
    with pytest.raises(Unreadable, match="empty"):
        read(b" \n")


@pytest.mark.parametrize("head", ["", '<meta charset="utf-8">', '<meta charset="utf-16">'])
@pytest.mark.parametrize("charset", ["utf-8", None])
def test_a_page_in_another_charset_than_it_is_said_to_be_in_is_guessed(head, charset):
    page = f"<html><head>{head}</head><body><p>fermé à Noël, où êtes-vous</p></body></html>"
    assert read(page.encode("cp1252"), charset)["content"] == "fermé à Noël, où êtes-vous\n"
