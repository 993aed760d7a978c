"""Cut the blocks of a section into passages of about 400 characters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from app.kit.markdown.blocks import Block, Kind

TARGET: Final = 400
"""Characters a passage is filled to."""
HARD_MAX: Final = 1_200
"""Characters of the longest passage: a code block, table row or word that is better kept whole."""
_MAX_SENTENCE: Final = 600
_FULL_ENOUGH: Final = 200  # a passage this long is closed rather than filled with half of the next block
_TINY: Final = 80  # one this short ("Run this:") goes with what follows, even if that is code over the target

_SENTENCE: Final = r"[.!?…][\"')\]*_”’»]{0,3}\s+|[。！？]+[」』）”]{0,3}\s*"
_LINE: Final = r"[\r\n]+"
_BOUNDARIES: Final = {
    Kind.PROSE: re.compile(_SENTENCE),
    Kind.LINES: re.compile(_LINE),
    Kind.CODE: re.compile(_LINE),
    Kind.PLAIN: re.compile(f"{_LINE}|{_SENTENCE}"),
}
_SPACE = re.compile(r"\s")
_WIDE_PAUSE = re.compile("[、，；：。！？]")
_FIRST_WIDE: Final = "\u2e80"  # from here on scripts are written without spaces between words

Span = tuple[int, int]


def passages(text: str, blocks: Iterable[Block]) -> list[Span]:
    """Pack consecutive blocks into spans that hold all their non-blank text, in order and without overlap."""
    packed: list[Span] = []
    start = end = -1
    for block in blocks:
        last = _trim(text, block)[1]
        if start >= 0 and last - start > TARGET and end - start >= _FULL_ENOUGH:
            packed.append((start, end))
            start = -1
        for piece_start, piece_end in _pieces(text, block):
            if start >= 0 and not _fits(start, end, piece_end):
                packed.append((start, end))
                start = -1
            start, end = (piece_start if start < 0 else start), piece_end
    if start >= 0:
        packed.append((start, end))
    return packed


def _fits(start: int, end: int, new_end: int) -> bool:
    return new_end - start <= TARGET or (end - start <= _TINY and new_end - start <= HARD_MAX)


def _pieces(text: str, block: Block) -> Iterator[Span]:
    """Give the smallest parts of a block that are kept whole, without the blank between them."""
    longest = _MAX_SENTENCE if block.kind in {Kind.PROSE, Kind.PLAIN} else HARD_MAX
    for start, end in _units(text, block):
        if end - start <= longest:
            yield start, end
        else:
            yield from _cut(text, start, end)


def _units(text: str, block: Block) -> Iterator[Span]:
    whole = _trim(text, block)
    if block.kind is Kind.CODE and whole[1] - whole[0] <= HARD_MAX:
        yield whole
        return
    position = block.start
    for boundary in _BOUNDARIES[block.kind].finditer(text, block.start, block.end):
        yield from _unless_blank(_trim(text, Block(block.kind, position, boundary.end())))
        position = boundary.end()
    yield from _unless_blank(_trim(text, Block(block.kind, position, block.end)))


def _unless_blank(span: Span) -> Iterator[Span]:
    if span[0] < span[1]:
        yield span


def _trim(text: str, block: Block) -> Span:
    """Take the white space off both ends; code and rows keep the indentation of their first line."""
    body = text[block.start : block.end]
    end = block.start + len(body.rstrip())
    start = block.end - len(body.lstrip())
    if start >= end:
        return block.start, block.start
    if block.kind in {Kind.CODE, Kind.LINES}:
        start = 1 + max(block.start - 1, text.rfind("\n", block.start, start), text.rfind("\r", block.start, start))
    return start, end


def _cut(text: str, start: int, end: int) -> Iterator[Span]:
    """Cut an overlong unit by length: between words where there are any, else at a code point."""
    while end - start > TARGET:
        cut = _cut_position(text, start, end)
        yield start, start + len(text[start:cut].rstrip())
        # Step over the white space behind the cut in bounded slices: one slice of the rest would be quadratic.
        while cut < end and not text[cut : cut + TARGET].strip():
            cut += TARGET
        start = min(end, cut + _leading_space(text[cut : cut + TARGET]))
    if start < end:
        yield start, end


def _leading_space(part: str) -> int:
    return len(part) - len(part.lstrip())


def _cut_position(text: str, start: int, end: int) -> int:
    window = text[start : start + TARGET + 1]
    words = window.rsplit(None, 1)
    if len(words) > 1:
        return start + len(words[0]) + _leading_space(window)
    pauses = list(_WIDE_PAUSE.finditer(window, 1, TARGET))
    if pauses:
        return start + pauses[-1].end()
    if text[start + TARGET] >= _FIRST_WIDE:
        return start + TARGET
    space = _SPACE.search(text, start + TARGET, min(end, start + HARD_MAX))
    return space.start() if space else min(end, start + HARD_MAX)
