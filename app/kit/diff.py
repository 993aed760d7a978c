"""What differs between two texts, by line, and three-way merges of it; time and memory are bounded for any text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rapidfuzz.distance import LCSseq

CONTEXT: Final = 3
_MAX_CELLS: Final = 64_000_000
"""Lines times lines that are compared, a bit each: beyond, what lies between is one change."""
_NO_END: Final = "\\ No newline at end of file\n"


@dataclass(frozen=True, slots=True)
class Change:
    """Lines `old_start` to `old_end` of one text became lines `new_start` to `new_end`: from 0, ends excluded."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def lines_of(text: str) -> list[str]:
    r"""Cut a text behind every `\n`; joined again it is the same text."""
    parts = text.split("\n")
    lines = [f"{part}\n" for part in parts[:-1]]
    return [*lines, parts[-1]] if parts[-1] else lines


def changes(old: Sequence[str], new: Sequence[str]) -> list[Change]:
    """Give the fewest lines that turn one text into the other, in text order; between two there is a common line."""
    shortest = min(len(old), len(new))
    head = next((i for i in range(shortest) if old[i] != new[i]), shortest)
    tail = next((i for i in range(shortest - head) if old[-1 - i] != new[-1 - i]), shortest - head)
    old_end, new_end = len(old) - tail, len(new) - tail
    if head == old_end and head == new_end:
        return []
    if (old_end - head) * (new_end - head) > _MAX_CELLS:
        return [Change(head, old_end, head, new_end)]
    found: list[Change] = []
    for step in LCSseq.opcodes(old[head:old_end], new[head:new_end]):
        if step.tag == "equal":
            continue
        change = Change(head + step.src_start, head + step.src_end, head + step.dest_start, head + step.dest_end)
        if found and (found[-1].old_end, found[-1].new_end) == (change.old_start, change.new_start):
            last = found.pop()
            change = Change(last.old_start, change.old_end, last.new_start, change.new_end)
        found.append(change)
    return found


def unified(old: Sequence[str], new: Sequence[str], found: Sequence[Change]) -> Iterator[str]:
    """Write changes as the lines of a unified diff, without file names."""
    for group in _groups(found):
        first, last = group[0], group[-1]
        start, end = max(0, first.old_start - CONTEXT), min(len(old), last.old_end + CONTEXT)
        new_start = first.new_start - (first.old_start - start)
        new_end = last.new_end + (end - last.old_end)
        yield f"@@ -{_range(start, end)} +{_range(new_start, new_end)} @@\n"
        position = start
        for change in group:
            yield from _marked(" ", old[position : change.old_start])
            yield from _marked("-", old[change.old_start : change.old_end])
            yield from _marked("+", new[change.new_start : change.new_end])
            position = change.old_end
        yield from _marked(" ", old[position:end])


def cut_mark(most: int) -> str:
    """Give the last line of a unified diff that was cut."""
    return f"@@ cut at {most} characters @@\n"


def unified_text(old: Sequence[str], new: Sequence[str], most: int) -> str:
    """Write the unified diff of two texts, of at most `most` characters; if it is cut, its last line says so."""
    kept: list[str] = []
    size = 0
    for line in unified(old, new, changes(old, new)):
        size += len(line)
        if size > most:
            return "".join([*kept, cut_mark(most)])
        kept.append(line)
    return "".join(kept)


def _groups(found: Sequence[Change]) -> Iterator[list[Change]]:
    """Put changes together whose contexts would meet."""
    group: list[Change] = []
    for change in found:
        if group and change.old_start - group[-1].old_end > 2 * CONTEXT:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _range(start: int, end: int) -> str:
    count = end - start
    first = start + 1 if count else start
    return str(first) if count == 1 else f"{first},{count}"


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield f"{mark}{line}"
        if not line.endswith("\n"):
            yield f"\n{_NO_END}"


@dataclass(frozen=True, slots=True)
class Merge:
    """What became of two changes of one base: `text`, or the base lines (from 0, end excluded) that both changed."""

    text: str | None
    conflicts: tuple[tuple[int, int], ...]


def merge(base: Sequence[str], mine: Sequence[str], theirs: Sequence[str]) -> Merge:
    """Make both changes of a base; those that overlap or touch conflict, unless they are the same."""
    left, right = changes(base, mine), changes(base, theirs)
    taken: list[tuple[Change, Sequence[str]]] = [
        (change, theirs[change.new_start : change.new_end]) for change in right
    ]
    conflicts = []
    at = 0
    for change in left:
        while at < len(right) and right[at].old_end < change.old_start:
            at += 1
        text = mine[change.new_start : change.new_end]
        touching = right[at : _beyond(right, at, change)]
        if not touching:
            taken.append((change, text))
        elif not _same(change, text, touching, theirs):
            first = min(change.old_start, touching[0].old_start)
            conflicts.append((first, max(change.old_end, touching[-1].old_end)))
    if conflicts:
        return Merge(None, tuple(conflicts))
    return Merge("".join(_applied(base, taken)), ())


def _beyond(right: Sequence[Change], at: int, change: Change) -> int:
    while at < len(right) and right[at].old_start <= change.old_end:
        at += 1
    return at


def _same(change: Change, text: Sequence[str], touching: Sequence[Change], theirs: Sequence[str]) -> bool:
    other = touching[0]
    span = (change.old_start, change.old_end) == (other.old_start, other.old_end)
    return len(touching) == 1 and span and list(text) == list(theirs[other.new_start : other.new_end])


def _applied(base: Sequence[str], taken: list[tuple[Change, Sequence[str]]]) -> Iterator[str]:
    position = 0
    for change, text in sorted(taken, key=lambda item: item[0].old_start):
        yield from base[position : change.old_start]
        yield from text
        position = change.old_end
    yield from base[position:]
