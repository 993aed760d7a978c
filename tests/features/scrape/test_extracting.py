"""Pages that are hard to read: what is made of them, and the reason where nothing is."""

from __future__ import annotations

import pytest

from app.features.scrape.extracting import read_page
from app.store.confined import Unreadable

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
