"""Markdown as HTML for people: strangers' text behind an allow-list, and our own pages with headings to link to."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

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
    "li",
    "ol",
    "p",
    "pre",
    "s",
} | {"strong", "table", "tbody", "td", "th", "thead", "tr", "ul"}
_SCHEMES: Final = {"http", "https", "mailto"}
_ADDRESS = re.compile(r"(?:https?://[!-~]+|mailto:[!-~]+)", re.IGNORECASE)
OPEN_PATHS: Final = ("/s/", "/docs")
"""Paths of this service that anybody can open; every other address of it is somebody's own."""


def _parser() -> MarkdownIt:
    options = {"html": False, "maxNesting": _MAX_NESTING}
    return MarkdownIt("commonmark", options).enable(["table", "strikethrough"])


_PARSER: Final = _parser()


def strange_html(text: str, own: Iterable[str] = ()) -> str:
    """Render a stranger's Markdown: no HTML of theirs, no image that loads by itself, no link that leads inside.

    A link stays only where it leads to another site by http or https, or to a mail address; others become their text.
    Images become links. Headings start at the second level, since the page has a title of its own. The sanitizer comes
    last, and nothing may be done to what it gives.

    Args:
        own: base addresses of this service, whose pages are private but for `OPEN_PATHS`.
    """
    hosts = frozenset(urlsplit(base).netloc.lower() for base in own)
    tokens = _PARSER.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 1, _DEEPEST_HEADING)}"
        if token.children:
            token.children = _safe_inline(token.children, hosts)
    return nh3.clean(
        _PARSER.renderer.render(tokens, _PARSER.options, {}),
        tags=_TAGS,
        clean_content_tags={"script", "style"},
        attributes={"a": {"href", "title"}, "ol": {"start"}},
        strip_comments=True,
        link_rel="noopener noreferrer nofollow ugc",
        url_schemes=_SCHEMES,
    )


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
    html: str = _PARSER.renderer.render(tokens, _PARSER.options, {})
    return html.replace("<table>", '<div class="scroll" role="region" aria-label="Table" tabindex="0"><table>').replace(
        "</table>", "</table></div>"
    )


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
