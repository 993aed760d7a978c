"""A unified diff as two columns of lines, with the words that differ."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from app.kit.diff import changes

_HEAD = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_MOST_ROWS: Final = 2_000
_MOST_MARKED: Final = 2_000
"""Characters of a line up to which the words that differ are looked for."""
_ENOUGH: Final = 4
"""A line is one that changed while a quarter of it stayed."""
_Parts = tuple[tuple[str, bool], ...]
_WORD = re.compile(r"\w+|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of one side: its number, and its text in parts, each with whether it differs from the other side."""

    number: int
    parts: tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True)
class Row:
    """A line of both sides; `gap` stands for lines that are left out because they are alike."""

    kind: Literal["same", "changed", "gap"]
    old: Line | None = None
    new: Line | None = None


@dataclass(frozen=True, slots=True)
class Columns:
    """A comparison of two texts; `cut`: there is more than is shown."""

    rows: list[Row]
    cut: bool = False


def columns(unified: str) -> Columns:
    """Write a unified diff without file names as two columns."""
    table = _Table()
    for text in unified.split("\n"):
        if len(table.rows) >= _MOST_ROWS or text.startswith("@@ cut at "):
            table.flush()
            return Columns(table.rows[:_MOST_ROWS], cut=True)
        table.take(text)
    table.flush()
    return Columns(table.rows)


class _Table:
    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._removed: list[str] = []
        self._added: list[str] = []
        self._old = self._new = 1

    def take(self, text: str) -> None:
        mark, rest = text[:1], text[1:]
        if (head := _HEAD.match(text)) is not None:
            self.flush()
            self._old, self._new = int(head[1]), int(head[2])
            if self.rows or self._old > 1:
                self.rows.append(Row("gap"))
        elif mark == "-":
            self._removed.append(rest)
        elif mark == "+":
            self._added.append(rest)
        elif mark == " ":
            self.flush()
            self.rows.append(Row("same", Line(self._old, ((rest, False),)), Line(self._new, ((rest, False),))))
            self._old, self._new = self._old + 1, self._new + 1

    def flush(self) -> None:
        """Put the lines that came beside those that went."""
        for number in range(max(len(self._removed), len(self._added))):
            gone = self._removed[number] if number < len(self._removed) else None
            come = self._added[number] if number < len(self._added) else None
            old, new = _marked(gone, come)
            left = None if old is None else Line(self._old + number, old)
            right = None if new is None else Line(self._new + number, new)
            self.rows.append(Row("changed", left, right))
        self._old += len(self._removed)
        self._new += len(self._added)
        self._removed.clear()
        self._added.clear()


def _marked(old: str | None, new: str | None) -> tuple[_Parts | None, _Parts | None]:
    """Split both lines into words that are alike and words that differ; too little in common counts as none."""
    plain = (None if old is None else ((old, False),)), (None if new is None else ((new, False),))
    if old is None or new is None or max(len(old), len(new)) > _MOST_MARKED:
        return plain
    left, right = _WORD.findall(old), _WORD.findall(new)
    found = changes(left, right)
    kept = sum(map(len, left)) - sum(len(word) for one in found for word in left[one.old_start : one.old_end])
    if kept * _ENOUGH < max(len(old), len(new)):
        return plain
    return (
        _parts(left, [(one.old_start, one.old_end) for one in found]),
        _parts(right, [(one.new_start, one.new_end) for one in found]),
    )


def _parts(words: list[str], spans: list[tuple[int, int]]) -> _Parts:
    found: list[tuple[str, bool]] = []
    at = 0
    for start, end in [*spans, (len(words), len(words))]:
        found += [("".join(words[at:start]), False), ("".join(words[start:end]), True)]
        at = end
    return tuple(part for part in found if part[0])
