"""Markdown as HTML for people: strangers' text behind an allow-list, and our own pages with headings to link to."""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

from app.kit.markdown.blocks import MAX_HEADING, plain
from app.kit.markdown.outline import Anchors

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_BYTES: Final = 1024 * 1024
"""Largest text of a stranger that is rendered; what is larger is shown as it is stored."""

_MAX_NESTING: Final = 40
_DEEPEST_HEADING: Final = 6
_TAGS: Final = {
    "a",
    "blockquote",
    "br",
    "code",
    "del",
    "em",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "input",
    "li",
    "ol",
    "p",
    "pre",
    "s",
} | {"strong", "table", "tbody", "td", "th", "thead", "tr", "ul"}
_SCHEMES: Final = {"http", "https", "mailto"}
_ADDRESS = re.compile(r"(?:https?://[!-~]+|mailto:[!-~]+)", re.IGNORECASE)
_HEADINGS: Final = [f"h{level}" for level in range(2, _DEEPEST_HEADING + 1)]
_QUOTABLE: Final = ("p", "li", "tr", "pre", "code")
_PREFIX: Final = "t-"
"""Of all ids in a stranger's text, so that none is one of the page around it."""
_QUOTED: Final = ".quote"  # with a character that no anchor of a heading has
QUOTED_ID: Final = f"{_PREFIX}{_QUOTED}"
"""The id of the block where the text begins that is marked as quoted."""
_ATTRIBUTES: Final = {
    "a": {"href", "title"},
    "ol": {"start"},
    "input": {"checked", "aria-label"},
    **{name: {"id"} for name in [*_HEADINGS, *_QUOTABLE]},
}
_CLASSES: Final = {name: {"quoted", "task"} for name in _QUOTABLE}
_LINE_END = re.compile(r"\r\n?|\n")
_TASK = re.compile(r"\[([ xX])\][ \t]+")
_TITLE = re.compile(rf'<h([2-6]) id="({_PREFIX}[^"]*)"[^>]*>(.*?)</h\1>', re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
OPEN_PATHS: Final = ("/s/", "/docs")
"""Paths of this service that anybody can open; every other address of it is somebody's own."""


def _parser() -> MarkdownIt:
    options = {"html": False, "maxNesting": _MAX_NESTING}
    return MarkdownIt("commonmark", options).enable(["table", "strikethrough"])


_PARSER: Final = _parser()


def strange_html(text: str, own: Iterable[str] = (), quoted: tuple[int, int] | None = None) -> str:
    """Render a stranger's Markdown: no HTML of theirs, no image that loads by itself, no link that leads inside.

    A link stays only where it leads to another site by http or https, or to a mail address; others become their text.
    Images become links. Headings start at the second level, since the page has a title of its own; those of the text
    itself have ids. Boxes of task lists cannot be ticked. The sanitizer comes last, and nothing may be done to what it
    gives.

    Args:
        own: base addresses of this service, whose pages are private but for `OPEN_PATHS`.
        quoted: a span of the text, in characters; the blocks that hold it are marked, the first as `QUOTED_ID`.
    """
    hosts = frozenset(urlsplit(base).netloc.lower() for base in own)
    tokens = _PARSER.parse(text)
    _set_anchors(tokens)
    _set_boxes(tokens)
    if quoted is not None:
        _set_quoted(tokens, *_lines(text, *quoted))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 1, _DEEPEST_HEADING)}"
        token.info = ""  # no language is shown, nor becomes a class
        if token.children:
            token.children = _safe_inline(token.children, hosts)
    return nh3.clean(
        _PARSER.renderer.render(tokens, _PARSER.options, {}),
        tags=_TAGS,
        clean_content_tags={"script", "style"},
        attributes=_ATTRIBUTES,
        allowed_classes=_CLASSES,
        set_tag_attribute_values={"input": {"type": "checkbox", "disabled": ""}},
        id_prefix=_PREFIX,
        strip_comments=True,
        link_rel="noopener noreferrer nofollow ugc",
        url_schemes=_SCHEMES,
    )


@dataclass(frozen=True, slots=True)
class Entry:
    """A heading in a table of contents: its level in the page, its id, and its words."""

    level: int
    id: str
    text: str


def contents(rendered: str) -> list[Entry]:
    """List the headings of what `strange_html` gave, in text order."""
    return [Entry(int(level), html.unescape(name), _said(title)) for level, name, title in _TITLE.findall(rendered)]


def begins_with(rendered: str, title: str) -> bool:
    """Tell whether what `strange_html` gave begins with a heading that says a title, which is then shown already."""
    first = _TITLE.match(rendered.lstrip())
    return first is not None and _said(first[3]).split() == title.split()


def _said(inner: str) -> str:
    return html.unescape(_TAG.sub("", inner)).strip()


def _set_anchors(tokens: list[Token]) -> None:
    """Give the headings of a text the anchors by which its sections are edited too."""
    anchors = Anchors()
    for opened, inline in pairwise(tokens):
        if opened.type == "heading_open" and opened.level == 0 and len(inline.content) <= MAX_HEADING:
            opened.attrSet("id", anchors.take(plain(inline.content)))


def _set_boxes(tokens: list[Token]) -> None:
    """Turn `[ ]` and `[x]` at the start of a list's item into a box."""
    for item, paragraph, inline in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if (item.type, paragraph.type) != ("list_item_open", "paragraph_open") or not inline.children:
            continue
        first = inline.children[0]
        if first.type == "text" and (found := _TASK.match(first.content)):
            first.content = f" {first.content[found.end() :]}"
            state = ' aria-label="To do"' if found[1] == " " else ' checked="" aria-label="Done"'
            inline.children.insert(0, Token("html_inline", "", 0, content=f"<input{state}>"))
            item.attrJoin("class", "task")


def _lines(text: str, start: int, end: int) -> tuple[int, int]:
    """Give the lines of a span as the parser counts them: the first, and the one behind the last."""
    first = len(_LINE_END.findall(text, 0, start))
    return first, first + len(_LINE_END.findall(text, start, end)) + 1


def _set_quoted(tokens: list[Token], first: int, last: int) -> None:
    """Mark the innermost blocks on some lines; a paragraph of a close list is its item."""
    item, is_first = None, True
    for token in tokens:
        item = token if token.type == "list_item_open" else item
        if token.type not in ("paragraph_open", "tr_open", "fence", "code_block") or token.map is None:
            continue
        if token.map[0] < last and token.map[1] > first and (block := item if token.hidden else token):
            block.attrJoin("class", "quoted")
            if is_first:
                block.attrSet("id", _QUOTED)
            is_first = False


def words(text: str) -> str:
    """Give what a reader sees of a Markdown text as one line: for previews, so it is meant for the start of one."""
    found: list[str] = []
    for token in _PARSER.parse(text):
        parts = (token.children or ()) if token.type == "inline" else (token,)
        found.append("".join(" " if part.type.endswith("break") else part.content for part in parts))
    return " ".join(" ".join(found).split())


def leads_out(href: str, hosts: frozenset[str]) -> bool:
    """Tell whether an address leads to another site, or to what anybody can open here."""
    if _ADDRESS.fullmatch(href) is None:
        return False
    try:
        parts = urlsplit(href)
    except ValueError:
        return False
    return parts.netloc.lower() not in hosts or not parts.netloc or parts.path.startswith(OPEN_PATHS)


def _safe_inline(children: list[Token], hosts: frozenset[str]) -> list[Token]:
    """Drop links that lead inside, keeping their text; turn images into links."""
    found: list[Token] = []
    kept: list[bool] = []
    for token in children:
        if token.type == "link_open":
            kept.append(leads_out(str(token.attrGet("href") or ""), hosts))
            if kept[-1]:
                found.append(token)
        elif token.type == "link_close":
            if kept.pop():
                found.append(token)
        elif token.type == "image":
            found += _image(token, hosts, linked=any(kept))
        else:
            found.append(token)
    return found


def _image(token: Token, hosts: frozenset[str], *, linked: bool) -> list[Token]:
    source = str(token.attrGet("src") or "")
    text = Token("text", "", 0, content=token.content or "image")
    if linked or not leads_out(source, hosts):
        return [text]
    return [Token("link_open", "a", 1, attrs={"href": source}), text, Token("link_close", "a", -1)]


# -- our own pages ----------------------------------------------------------------------------------------------------


def own_html(text: str) -> str:
    """Render a page of ours: every heading gets an id made of its words, and wide tables can be scrolled."""
    tokens = _PARSER.parse(text)
    taken: set[str] = set()
    for opened, inline in pairwise(tokens):
        if opened.type == "heading_open":
            opened.attrSet("id", _distinct(slug(inline.content), taken))
    rendered: str = _PARSER.renderer.render(tokens, _PARSER.options, {})
    return rendered.replace(
        "<table>", '<div class="scroll" role="region" aria-label="Table" tabindex="0"><table>'
    ).replace("</table>", "</table></div>")


def slug(title: str) -> str:
    """Make the id of a heading: small letters and digits, joined by hyphens."""
    plain = unicodedata.normalize("NFKD", title.replace("`", "")).lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-") or "section"


def _distinct(name: str, taken: set[str]) -> str:
    found, number = name, 1
    while found in taken:
        number += 1
        found = f"{name}-{number}"
    taken.add(found)
    return found
