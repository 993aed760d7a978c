"""A unified diff as two columns of lines, with the words that differ."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

_HEAD = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_MOST_ROWS: Final = 2_000
_MOST_MARKED: Final = 2_000
"""Characters of a line up to which the words that differ are looked for."""
_WORD = re.compile(r"\w+|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of one side: its number, and its text in three parts, of which the middle one differs."""

    number: int
    before: str
    marked: str = ""
    after: str = ""


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
            self.rows.append(Row("same", Line(self._old, rest), Line(self._new, rest)))
            self._old, self._new = self._old + 1, self._new + 1

    def flush(self) -> None:
        """Put the lines that came beside those that went."""
        for number in range(max(len(self._removed), len(self._added))):
            gone = self._removed[number] if number < len(self._removed) else None
            come = self._added[number] if number < len(self._added) else None
            old, new = _marked(gone, come)
            left = None if old is None else Line(self._old + number, *old)
            right = None if new is None else Line(self._new + number, *new)
            self.rows.append(Row("changed", left, right))
        self._old += len(self._removed)
        self._new += len(self._added)
        self._removed.clear()
        self._added.clear()


def _marked(old: str | None, new: str | None) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """Split both lines around the words that differ."""
    if old is None or new is None or max(len(old), len(new)) > _MOST_MARKED:
        return (None if old is None else (old,)), (None if new is None else (new,))
    left, right = _WORD.findall(old), _WORD.findall(new)
    shortest = min(len(left), len(right))
    head = next((i for i in range(shortest) if left[i] != right[i]), shortest)
    tail = next((i for i in range(shortest - head) if left[-1 - i] != right[-1 - i]), shortest - head)
    if not head and not tail:
        return (old,), (new,)
    return _parts(left, head, tail), _parts(right, head, tail)


def _parts(words: list[str], head: int, tail: int) -> tuple[str, ...]:
    end = len(words) - tail
    return "".join(words[:head]), "".join(words[head:end]), "".join(words[end:])
