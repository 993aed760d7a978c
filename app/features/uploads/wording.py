"""What two readings of one file have in common, and what its title is."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from app.kit.kinds import MEDIA_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterator

LINE_HYPHEN: Final = "\x02"
"""What the library writes for the hyphen of a word that a line's end divides."""

_MAX_TITLE = 500
_MAX_HEADING = 120
_WORD = re.compile(r"[^\W_]+")
_HEADING = re.compile(r"^(#{1,6}) +(.*\S)", re.MULTILINE)
_NEEDLESS = re.compile(r"(\\[^!]|(`+)(?!`).*?(?<!`)\2(?!`))|\\!(?!\[)", re.DOTALL)
"""A `!` that is escaped where it begins no image; other escapes and code are passed over whole, as the first group."""
_OFFICE_FILE = "|".join([*MEDIA_TYPES, "doc", "dot", "dotx", "ppt", "xls", "indd", "tex", "dvi", "pages"])
_NO_TITLE = re.compile(
    rf"""
    (about|file|https?|data|blob):\S*             # what a browser printed
    | (untitled|unbenannt|no\ title|title|(untitled\ )?document|presentation)[ \-_]?\d*
    | (/|~/|\\\\|[a-z]:\\).*                     # a path
    | \S+\.[a-z][a-z0-9]{{1,4}}                   # the name of a file
    | .*\.({_OFFICE_FILE})
    """,
    re.IGNORECASE | re.VERBOSE,
)


def lacks_nothing(markdown: str, plain: str) -> bool:
    """Tell whether each word of a plain text stands in the Markdown as often; a line's end may divide one in two."""
    here, there = _WORD.findall(markdown), _WORD.findall(plain)
    lacking, extra = Counter(there) - Counter(here), Counter(here) - Counter(there)
    if not lacking:
        return True
    for one, two in pairwise(there):
        if extra[one + two]:
            extra[one + two] -= 1
            lacking.subtract((one, two))
    lacking.subtract(one + two for one, two in pairwise(here) if lacking[one + two] > 0)
    return not +lacking


def unescaped(markdown: str) -> str:
    """Write `!` as it is where Markdown gives it no meaning: who looks for a text literally finds it."""
    return _NEEDLESS.sub(lambda found: found[1] or "!", markdown)


def with_headings(text: str, markdown: str) -> str:
    """Mark the lines of a text that the Markdown has as headings: those that are a line, once, and no sentence."""
    lines = text.split("\n")
    known = Counter(line.strip() for line in lines)
    levels = {said: marks for marks, said in _headings(markdown) if known[said] == 1}
    marked = (f"\n{levels[line.strip()]} {line.strip()}\n" if line.strip() in levels else line for line in lines)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(marked)).strip("\n") + "\n"


def _headings(markdown: str) -> Iterator[tuple[str, str]]:
    for marks, said in _HEADING.findall(markdown):
        if len(said) <= _MAX_HEADING and said[-1] not in ".,;:" and not said[0].islower():
            yield marks, said


def title_of(own: str | None, metadata: dict[str, Any], content: str) -> str | None:
    """Choose the title that a file gives itself, else the first of the highest headings of `content`; None without.

    What programs fill in by themselves is none: an address, a path, the name of a file, "untitled".
    """
    heading = min(_headings(content), key=lambda found: len(found[0]), default=("", None))[1]
    for given in (own, metadata.get("title"), metadata.get("subject"), heading):
        title = " ".join(str(given or "").split())
        if title and not _NO_TITLE.fullmatch(title):
            return title[:_MAX_TITLE]
    return None
