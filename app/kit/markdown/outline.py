"""The section tree of a Markdown text."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from itertools import zip_longest

from app.kit.markdown.blocks import Heading, parse


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and its own text up to the next heading of any level; level 0 is the text before the first one.

    Offsets are in code points of the original text: the heading is `start` to `body_start`, the body `body_start`
    to `end`. `parent` is an index into the list of sections. The anchor of level 0 is the empty string.
    """

    level: int
    heading: str | None
    path: tuple[str, ...]
    anchor: str
    start: int
    body_start: int
    end: int
    parent: int | None


def sections(text: str) -> list[Section]:
    """Split a text into sections that tile it in order; an empty text has none."""
    return outline(text, parse(text).headings)


def outline(text: str, headings: list[Heading]) -> list[Section]:
    """Build the sections of a text whose headings are known."""
    found: list[Section] = []
    first = headings[0].start if headings else len(text)
    if text[:first].strip("\ufeff \t\r\n") or (text and not headings):
        found.append(Section(0, None, (), "", 0, 0, first, None))
    anchors = Anchors()
    ancestors: list[int] = []
    for heading, following in zip_longest(headings, headings[1:]):
        while ancestors and found[ancestors[-1]].level >= heading.level:
            ancestors.pop()
        parent = ancestors[-1] if ancestors else None
        path = (*(found[parent].path if parent is not None else ()), heading.text)
        # Blank lines above the first heading belong to it, so that the sections tile the text.
        start = heading.start if found else 0
        end = following.start if following else len(text)
        ancestors.append(len(found))
        anchor = anchors.take(heading.text)
        found.append(Section(heading.level, heading.text, path, anchor, start, heading.end, end, parent))
    return found


class Anchors:
    """Hands out the anchors GitHub would: lower case, hyphens for spaces, a number behind a repeated one."""

    def __init__(self) -> None:
        self._used: dict[str, int] = {}

    def take(self, heading: str) -> str:
        """Give the next free anchor of a heading's text."""
        kept = "".join(c for c in heading.lower() if c in "-_ " or unicodedata.category(c)[0] in "LMN")
        base = kept.strip().replace(" ", "-") or "section"
        anchor = base
        while anchor in self._used:
            self._used[base] += 1
            anchor = f"{base}-{self._used[base]}"
        self._used[anchor] = 0
        return anchor
