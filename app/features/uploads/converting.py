"""Writes files as Markdown; runs in a confined process (`app.store.confined`)."""

from __future__ import annotations

from typing import Any

from app.features.uploads.kinds import LANGUAGES, MEDIA_TYPES
from app.store.confined import Unreadable

_MAX_TITLE = 500
_NO_TEXT = "it holds no text (a scan without recognised text has none)"


def convert(options: dict[str, Any], body: bytes) -> dict[str, Any]:
    """Read a file of a known `kind`: its `content` as Markdown and, where it tells one, its `title`."""
    kind = options["kind"]
    found = _converted(kind, body) if kind in MEDIA_TYPES else {"content": _text(body, kind)}
    if not found["content"].strip():
        raise Unreadable(_NO_TEXT)
    return found


def _converted(kind: str, body: bytes) -> dict[str, Any]:
    from kreuzberg import ExtractionConfig, extract_bytes_sync
    from kreuzberg.exceptions import KreuzbergError

    title = None
    if kind in ("html", "htm"):
        title, body = _bare_html(body)
    config = ExtractionConfig(output_format="markdown", use_cache=False)
    try:
        result = extract_bytes_sync(body, MEDIA_TYPES[kind], config=config)
    except KreuzbergError:
        raise Unreadable(f"it is damaged, protected, or no {kind.upper()} file") from None
    named = title or dict(result.metadata).get("title") or dict(result.metadata).get("subject")
    return {"content": result.content, "title": str(named).strip()[:_MAX_TITLE] if named else None}


def _bare_html(body: bytes) -> tuple[str | None, bytes]:
    """Take the head off a page: the converter would write it into the text."""
    from lxml import html

    root = html.document_fromstring(body)
    title = root.findtext("head/title")
    for head in root.findall("head"):
        root.remove(head)
    return title, html.tostring(root, encoding="utf-8")


def _text(body: bytes, kind: str) -> str:
    """Keep text as it is; code and data within a fence that is longer than any in it."""
    try:
        text = body.decode("utf-8-sig") if body[:2] not in (b"\xff\xfe", b"\xfe\xff") else body.decode("utf-16")
    except UnicodeDecodeError:
        text = _guessed(body)
    if "\x00" in text:
        raise Unreadable("it is no text")
    language = LANGUAGES.get(kind)
    if language is None or not text.strip():
        return text
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n"


def _guessed(body: bytes) -> str:
    from charset_normalizer import from_bytes

    best = from_bytes(body).best()
    if best is None:
        raise Unreadable("it is no text in a known encoding")
    return str(best)
