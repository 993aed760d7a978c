"""Block structure of a Markdown text: its top-level headings and its leaf blocks, as character spans."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

MAX_LINES: Final = 300_000
"""Texts with more lines are read as plain text: the parser keeps several tokens per line in memory."""
MAX_HEADINGS: Final = 10_000
"""Texts with more headings are read as plain text: each would be a section, a row of its own."""
MAX_HEADING: Final = 300
"""Longest heading in characters; a longer one is nearly always an underlined paragraph and is read as text."""
MAX_FRONT_MATTER_LINES: Final = 500
_SHORTEST_FRONT_MATTER: Final = 2  # a line between two marks
MAX_NESTING: Final = 20
"""Nested lists count two each. What lies deeper than this is text of the section it began in."""
_MAX_RAW_HEADING: Final = 2_000
_PARSED_LINE: Final = 4_000  # block structure is decided at the start of a line: the parser sees no more of it

_LINE_END = re.compile(r"\r\n?|\n")
_BOM: Final = "\ufeff"


class Kind(Enum):
    """How a block may be cut: at sentences, at lines, at both, or (code) not at all while it is small."""

    PROSE = "prose"
    LINES = "lines"
    PLAIN = "plain"
    CODE = "code"


_LEAVES: Final = {
    "paragraph_open": Kind.PROSE,
    "heading_open": Kind.PROSE,  # one inside a quote or list, or one that is too long to be a heading
    "table_open": Kind.LINES,
    "html_block": Kind.CODE,
    "fence": Kind.CODE,
    "code_block": Kind.CODE,
}


@dataclass(frozen=True, slots=True)
class Block:
    """A run of whole lines that is cut in one way."""

    kind: Kind
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Heading:
    """A top-level heading with its lines; `text` is free of simple inline markup and at most 300 characters."""

    level: int
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Structure:
    """All headings and all blocks of a text, each in text order; together they cover every non-blank line."""

    headings: list[Heading]
    blocks: list[Block]
    complete: bool = True
    """Whether the text was read as Markdown; it was not when it has too many lines or headings."""


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable("table")
    # Inline parsing is super-linear on hostile text, and a link reference is text to us like any other.
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser.disable("reference")


_PARSER: Final = _parser()


def parse(text: str) -> Structure:
    """Find headings and blocks in time linear in the text; texts with too many lines or headings have neither."""
    first = 1 if text.startswith(_BOM) else 0
    lines = _line_starts(text, first)
    if lines is None:
        return Structure([], [Block(Kind.PLAIN, first, len(text))], complete=False)
    front = _front_matter_lines(text, lines)
    tokens = _PARSER.parse(_parser_view(text, lines, front))
    builder = _Builder(text, lines)
    if front:
        builder.add(Kind.LINES, 0, front)
    for token in tokens:
        builder.take(token, front)
    builder.fill(len(lines) - 1)
    if len(builder.headings) > MAX_HEADINGS:
        return Structure([], [Block(Kind.PLAIN, first, len(text))], complete=False)
    return Structure(builder.headings, builder.blocks)


def _line_starts(text: str, first: int) -> list[int] | None:
    """Give the offset of every line and, last, the end of the text; None when there are too many lines."""
    starts = [first]
    for match in _LINE_END.finditer(text, first):
        starts.append(match.end())
        if len(starts) > MAX_LINES:
            return None
    if starts[-1] < len(text) or len(starts) == 1:
        starts.append(len(text))
    return starts


def _front_matter_lines(text: str, lines: list[int]) -> int:
    """Count the lines of a closed `---` block at the very top; 0 when there is none."""

    def line(number: int) -> str:
        return text[lines[number] : lines[number + 1]].rstrip()

    last = min(len(lines) - 1, MAX_FRONT_MATTER_LINES)
    if last < _SHORTEST_FRONT_MATTER or line(0) != "---" or not line(1):
        return 0
    return next((number + 1 for number in range(1, last) if line(number) in {"---", "..."}), 0)


def _parser_view(text: str, lines: list[int], front: int) -> str:
    """Give the text below the front matter, its very long lines cut short but none added or removed."""
    spans = list(pairwise(lines[front:]))
    if all(end - start <= _PARSED_LINE for start, end in spans):
        return text[lines[front] :]
    return "\n".join(text[start : min(end, start + _PARSED_LINE)].rstrip("\r\n") for start, end in spans)


class _Builder:
    """Turns the parser's tokens into spans that cover each line once."""

    def __init__(self, text: str, lines: list[int]) -> None:
        self.headings: list[Heading] = []
        self.blocks: list[Block] = []
        self._text = text
        self._lines = lines
        self._done = 0  # first line that no heading or block covers yet
        self._open: Token | None = None  # a top-level heading that waits for its text

    def take(self, token: Token, shift: int) -> None:
        """Record what a token says about its lines."""
        if self._open is not None:
            self._close_heading(self._open, token.content, shift)
            self._open = None
        elif token.type == "heading_open" and token.level == 0:
            self._open = token
        elif token.type in _LEAVES and token.map is not None:
            self.add(_LEAVES[token.type], token.map[0] + shift, token.map[1] + shift)

    def add(self, kind: Kind, first: int, last: int) -> None:
        """Append a block of the lines from `first` up to `last`, exclusive."""
        first, last = max(first, self._done), min(last, len(self._lines) - 1)
        self.fill(first)
        if last > first:
            self.blocks.append(Block(kind, self._lines[first], self._lines[last]))
            self._done = last

    def fill(self, before: int) -> None:
        """Cover the lines that no token claimed (markers, reference definitions, too deep nesting) as plain text."""
        if before <= self._done:
            return
        start, end = self._lines[self._done], self._lines[before]
        self._done = before
        if not _is_blank(self._text, start, end):
            self.blocks.append(Block(Kind.PLAIN, start, end))

    def _close_heading(self, token: Token, raw: str, shift: int) -> None:
        first, last = (line + shift for line in token.map or (0, 0))
        text = plain(raw) if len(raw) <= _MAX_RAW_HEADING else raw
        if len(text) > MAX_HEADING:
            self.add(Kind.PROSE, first, last)
            return
        last = min(last, len(self._lines) - 1)
        self.fill(first)
        self.headings.append(Heading(int(token.tag[1]), text, self._lines[first], self._lines[last]))
        self._done = last


def _is_blank(text: str, start: int, end: int) -> bool:
    return not text[start:end].strip()


_MARKUP: Final = (
    (re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\s[^()]*)?\)"), r"\1"),
    (re.compile(r"</?[A-Za-z][^<>]*>"), ""),
    (re.compile(r"(`+)([^`]+)\1"), r"\2"),
    (re.compile(r"(\*{1,3}|~~)(?=\S)([^*~]+)\1"), r"\2"),
    (re.compile(r"(?<!\w)(_{1,3})(?=\S)([^_]+)\1(?!\w)"), r"\2"),
    (re.compile(r"\\([!-/:-@\[-`{-~])"), r"\1"),
)


def plain(raw: str) -> str:
    """Strip simple inline markup (links, tags, code, emphasis, escapes) from a heading and join its lines."""
    for pattern, replacement in _MARKUP:
        raw = pattern.sub(replacement, raw)
    return " ".join(raw.split())
