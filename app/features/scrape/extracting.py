"""Finds the text of a web page and writes it as Markdown; runs in a confined process (`app.store.confined`)."""

from __future__ import annotations

from typing import Any

from lxml.html import HtmlElement
from trafilatura import extract, extract_metadata, load_html

from app.kit.decoding import decoded, decoded_page
from app.store.readers import Unreadable

MAX_FIELD = 2_000
_MAX_DEPTH = 200
"""Levels of tags, somewhat below where the parser stops and leaves out what lies deeper."""
_BEGINNING = 50
"""Characters in which the library looks for the word."""
_DOCTYPE = "<!DOCTYPE html>\n"


def read_page(options: dict[str, Any], body: bytes) -> dict[str, Any]:
    """Read HTML: `content`, and where the page tells them `title`, `canonical` and `language`.

    `options` are the page's `url`, against which links are resolved, and the `charset` that its server named.
    """
    tree = _parsed(body, options["charset"])
    if tree is None:
        raise Unreadable("it is empty, or in no known encoding")
    is_deep = bool(tree.xpath(f"boolean({'/*' * _MAX_DEPTH})"))
    found = {
        "title": _title(tree),
        "canonical": _first(tree, "//link[@rel='canonical']/@href"),
        "language": _language(tree),
    }
    content = extract(
        tree,
        url=options["url"],
        output_format="markdown",
        include_formatting=True,
        include_links=True,
        include_tables=True,
        include_comments=False,
        favor_recall=True,
    )
    if not content or not content.strip():
        if is_deep:
            raise Unreadable("its tags are nested too deeply")
        raise Unreadable("it holds no text that can be read without running its scripts")
    return found | {"content": content.strip() + "\n"}


def read_text(options: dict[str, Any], body: bytes) -> dict[str, Any]:
    """Read plain text as it is, as `content`; `options` are the `charset` that its server named."""
    text = decoded(body, options["charset"])
    if text is None:
        raise Unreadable("it is no text in a known encoding")
    if not text.strip():
        raise Unreadable("it is empty")
    return {"content": text}


def _parsed(body: bytes, charset: str | None) -> HtmlElement | None:
    """Parse what its server calls HTML; the library would take pages without a word of it for something else."""
    text = decoded_page(body, charset)
    if not text or not text.strip():
        return None
    return load_html(text if "html" in text[:_BEGINNING].lower() else f"{_DOCTYPE}{text}")


def _title(tree: HtmlElement) -> str | None:
    named = extract_metadata(tree).title
    return str(named).strip()[:MAX_FIELD] if named else _first(tree, "//title/text()")


def _language(tree: HtmlElement) -> str | None:
    return _first(tree, "/html/@lang")


def _first(tree: HtmlElement, path: str) -> str | None:
    values = [str(value).strip() for value in tree.xpath(path)]
    return next((value[:MAX_FIELD] for value in values if value), None)
