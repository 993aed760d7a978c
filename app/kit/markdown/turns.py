"""Conversations: texts whose paragraphs are turns of the form `**Speaker** (date): text`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from app.kit.markdown.blocks import Block, Kind

_TURN: Final = re.compile(r"^\*\*([^*\r\n]{1,80})\*\* \(([^()\r\n]{1,80})\):", re.MULTILINE)
_FEWEST: Final = 2
_PROSE: Final = frozenset({Kind.PROSE, Kind.PLAIN})


@dataclass(frozen=True, slots=True)
class Turn:
    """Where a turn begins, who speaks and when."""

    start: int
    speaker: str
    date: str


def find_turns(text: str, blocks: Sequence[Block]) -> list[Turn]:
    """Find the turns of a conversation; none, where most of the paragraphs are something else."""
    prose = [block for block in blocks if block.kind in _PROSE]
    found = {
        block.start: [Turn(match.start(), match[1], match[2]) for match in _TURN.finditer(text, block.start, block.end)]
        for block in prose
    }
    begun = sum(bool(turns) and turns[0].start == start for start, turns in found.items())
    every = [turn for turns in found.values() for turn in turns]
    return every if len(every) >= _FEWEST and 2 * begun >= len(prose) else []


def by_turn(blocks: Sequence[Block], turns: Sequence[Turn]) -> Iterator[tuple[Turn | None, list[Block]]]:
    """Give the blocks of a section in runs that belong to one turn; those before the first turn belong to none."""
    starts = [turn.start for turn in turns]
    current: Turn | None = None
    run: list[Block] = []
    for block in blocks:
        first, last = bisect_right(starts, block.start - 1), bisect_right(starts, block.end - 1)
        place = block.start
        for turn in turns[first:last]:
            if turn.start > place:
                run.append(Block(block.kind, place, turn.start))
            if run:
                yield current, run
            current, run, place = turn, [], turn.start
        run.append(Block(block.kind, place, block.end))
    if run:
        yield current, run
