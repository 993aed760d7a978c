"""What a model wrote, without what could carry away what it read when a client shows it: images, HTML, addresses."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from markdown_it import MarkdownIt
from markdown_it.common.html_blocks import block_names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markdown_it.token import Token

_ADDRESS = re.compile(
    r"(?:[a-z][a-z0-9+.-]{1,20}://|www\.|(?:javascript|vbscript|data|mailto|file):)[^\s<>\"'`\[\](){}|\\^]+",
    re.IGNORECASE,
)
_AFTER: Final = ".,;:!?*_~…"
"""What ends a sentence behind an address and is no part of it."""

_COMMENT = re.compile(r"<!--(?:(?!<!--).)*?-->", re.DOTALL)
_ANGLED = re.compile(r"<([a-z][a-z0-9+.-]{1,31}:[^\s<>]*)>", re.IGNORECASE)
_TAG = re.compile(r"</?([A-Za-z][A-Za-z0-9-]*)(?:[\s/]+[^\s<>=/]+\s*=[^<>]*|[\s/]*)>")
"""A tag whose first attribute, if any, has a value: without one, `a<b and c>d` is a comparison."""
_OPENED = re.compile(r"<(?=[A-Za-z/!?])")
_LABEL: Final = r"\[((?:[^\[\]]|\[[^\[\]]{0,200}\]){0,400})\]"
_TITLE: Final = r"(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?"
_LINK = re.compile(rf"(!?){_LABEL}\(\s*(<[^<>]*>|[^\s()]*(?:\([^\s()]*\)[^\s()]*)*){_TITLE}\s*\)")
_DEFINITION = re.compile(r"^[ \t>*+-]*\[[^\[\]]+\]:[ \t]*\n?[^\n]*$", re.MULTILINE)
_GONE: Final = "…"
_HELD: Final = "\ue000"
"""Stands for the bracket of a link that stays, while others are sought."""
_GAP: Final = "\ue001"
"""Stands where a tag was that ends a word, as those of blocks and images do."""
_OURS = re.compile(f"[{_HELD}{_GAP}]")
_JOINED = re.compile(rf"(?<=[^\s{_GAP}]){_GAP}++(?![\s.,;:!?)\]]|$)")

_DEEP: Final = 40
_BRACKETS: Final = 2_000
"""More than an answer needs; the parser's time grows with their square."""
_SHOWS = frozenset({"image", "html_inline", "html_block"})


def addresses(text: str) -> frozenset[str]:
    """Find the addresses with a scheme in a text."""
    return frozenset(found.rstrip(_AFTER) for found in _ADDRESS.findall(text))


def harmless(text: str, passages: Iterable[str]) -> tuple[str, int]:
    """Take out images and HTML, and of links all but their text, unless they stand in one of the passages.

    Tells how many were taken out. What only looks like a tag stays, with a space that makes it none for every client.
    """
    known = frozenset().union(*map(addresses, passages))
    taken = 0

    def without(_: re.Match[str]) -> str:
        nonlocal taken
        taken += 1
        return ""

    def untagged(found: re.Match[str]) -> str:
        nonlocal taken
        name = found[1].lower()
        if name not in _elements():
            return found[0]
        taken += 1
        return "" if name in _within_words() else _GAP

    def unlinked(found: re.Match[str]) -> str:
        nonlocal taken
        if not found[1] and found[3].strip("<>") in known:
            return found[0].replace("[", _HELD, 1)
        taken += 1
        label = found[2]
        return "" if found[1] else f"[{label}]" if label[:1] + label[-1:] == "[]" else label  # a mark is no link's text

    def unaddressed(found: re.Match[str]) -> str:
        nonlocal taken
        address = found[0].rstrip(_AFTER)
        if address in known:
            return found[0]
        taken += 1
        return _GONE + found[0][len(address) :]

    text = _COMMENT.sub(without, _OURS.sub("", text))
    text = _TAG.sub(untagged, _ANGLED.sub(r"\1", text))
    text = _JOINED.sub(" ", text).replace(_GAP, "")
    before = None
    while text != before:  # an image may stand in a link
        before, text = text, _LINK.sub(unlinked, text)
    text = _DEFINITION.sub(without, text.replace(_HELD, "["))
    return _OPENED.sub("< ", _ADDRESS.sub(unaddressed, text)), taken


def leads_out(text: str, passages: Iterable[str]) -> bool:
    """Tell whether a client would find in a text what `harmless` takes out, or might, where it nests too deeply."""
    if text.count("[") > _BRACKETS:
        return True
    known = frozenset().union(*map(addresses, passages))
    return any(
        token.type in _SHOWS
        or token.level >= _DEEP
        or (token.type == "link_open" and token.attrs.get("href") not in known)
        for token in _tokens(text)
    )


@cache
def _elements() -> frozenset[str]:
    """Name the elements of HTML: anything else in angles (`List<T>`, `<your name>`) is text."""
    from lxml.html import defs

    return frozenset(defs.tags).union(block_names)


@cache
def _within_words() -> frozenset[str]:
    """Name the elements that may begin or end within a word."""
    from lxml.html import defs

    return frozenset(defs.phrase_tags | defs.font_style_tags | {"a", "font", "mark", "span", "wbr"})


def _tokens(text: str) -> Iterable[Token]:
    for block in _parser().parse(text):
        yield block
        yield from block.children or ()


class _Parser(MarkdownIt):
    """Takes every address for one, as it is written: others may take what the library would not."""

    def normalizeLink(self, url: str) -> str:  # noqa: N802  the library's name
        return url

    def validateLink(self, url: str) -> bool:  # noqa: ARG002, N802
        return True


@cache
def _parser() -> MarkdownIt:
    return _Parser("commonmark", {"maxNesting": 2 * _DEEP}).enable("table")
