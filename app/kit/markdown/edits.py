"""Edits of a Markdown text in a section or around an exact text; what lies outside of them stays as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Any, Final

from app.kit.markdown.blocks import parse
from app.kit.markdown.chunks import SEPARATOR
from app.kit.markdown.outline import Section, outline

_MARK = re.compile(r"#{1,6}\s+")
_SHOWN: Final = 20
_SHOWN_CHARACTERS: Final = 200
_AROUND: Final = 40


class Deed(StrEnum):
    """What an edit does with its place."""

    REPLACE = "replace"
    INSERT = "insert"
    DELETE = "delete"


class Where(StrEnum):
    """Where an insertion goes: `start` and `end` of a section's own text or of the whole; `before` and `after` it."""

    START = "start"
    END = "end"
    BEFORE = "before"
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class TextEdit:
    """One edit; `section` is a heading, a path of headings joined by ` > `, or `#anchor`; `find` is exact text."""

    deed: Deed
    section: str | None
    find: str | None
    text: str
    where: Where | None


class EditError(ValueError):
    """An edit has no place, several, or one that another edit changes too; `found` says what there is instead."""

    def __init__(self, number: int, field: str, problem: str, message: str, found: dict[str, Any]) -> None:
        super().__init__(message)
        self.number = number
        self.field = field
        self.problem = problem
        self.found = found


@dataclass(frozen=True, slots=True)
class _Patch:
    start: int
    end: int
    text: str
    number: int


def edited(text: str, edits: Sequence[TextEdit]) -> str:
    """Apply all edits to one text; each place is looked up in the text as it is now.

    Raises:
        EditError: one edit cannot be applied; then none is.
    """
    tree = _outline(text, edits)
    patches = sorted(
        (_patch(text, tree, number, edit) for number, edit in enumerate(edits)),
        key=lambda patch: (patch.start, patch.end, patch.number),
    )
    for before, after in pairwise(patches):
        if after.start < before.end:
            numbers = sorted((before.number, after.number))
            message = f"edits {numbers[0]} and {numbers[1]} change the same text; make them one edit"
            raise EditError(numbers[1], "edits", "overlap", message, {"edits": numbers})
    return "".join(_pieces(text, patches))


def _outline(text: str, edits: Sequence[TextEdit]) -> list[Section]:
    number = next((number for number, edit in enumerate(edits) if edit.section is not None), None)
    if number is None:
        return []
    structure = parse(text)
    if not structure.complete:
        message = "the document has too many lines or headings to be edited by section; use `find`"
        raise EditError(number, "section", "too_large", message, {})
    return outline(text, structure.headings)


def _pieces(text: str, patches: Sequence[_Patch]) -> Iterator[str]:
    position = 0
    for patch in patches:
        yield text[position : patch.start]
        yield patch.text
        position = patch.end
    yield text[position:]


def _patch(text: str, outline: Sequence[Section], number: int, edit: TextEdit) -> _Patch:
    at = None if edit.section is None else _section(outline, number, edit.section)
    if edit.find is not None:
        start, end = (0, len(text)) if at is None else (outline[at].start, _last(outline, at))
        start, end = _only(text, start, end, number, edit)
        return _around(start, end, number, edit)
    if edit.deed is Deed.INSERT:
        return _inserted(text, _place(text, outline, at, edit.where or Where.END), number, edit.text)
    assert at is not None
    if edit.deed is Deed.DELETE:
        return _Patch(outline[at].start, _last(outline, at), "", number)
    start, end = _own_text(text, outline[at])
    if start == end:
        return _inserted(text, start, number, edit.text)
    ended = edit.text.endswith(("\n", "\r")) or not edit.text or text[end - 1] != "\n"
    return _Patch(start, end, edit.text if ended else edit.text + _line_end(text), number)


def _around(start: int, end: int, number: int, edit: TextEdit) -> _Patch:
    if edit.deed is Deed.INSERT:
        start = end = start if edit.where is Where.BEFORE else end
    return _Patch(start, end, edit.text, number)


def _section(outline: Sequence[Section], number: int, named: str) -> int:
    """Find the one section that a path or anchor names: a whole path outranks the end of one."""
    matching: list[int] = []
    if named.startswith("#") and not _MARK.match(named):
        matching = [i for i, section in enumerate(outline) if section.level and section.anchor == named[1:]]
    else:
        path = tuple(_heading(part) for part in named.split(SEPARATOR))
        matching = [i for i, section in enumerate(outline) if section.path == path]
        matching = matching or [i for i, s in enumerate(outline) if s.level and s.path[-len(path) :] == path]
    if len(matching) == 1:
        return matching[0]
    shown = [outline[i] for i in matching] if matching else [section for section in outline if section.level]
    names = [_named(section) for section in shown[:_SHOWN]]
    listed = ", ".join(f"{item['path']} ({item['anchor']})" for item in names) or "none"
    problem = "ambiguous" if matching else "absent"
    message = (
        f"{len(matching)} sections are called {_clip(named)!r}: {listed}; name one by its whole path or its #anchor"
        if matching
        else f"no section is called {_clip(named)!r}; the document has: {listed}"
    )
    raise EditError(number, "section", problem, message, {"count": len(matching), "sections": names})


def _heading(part: str) -> str:
    return " ".join(_MARK.sub("", part, count=1).split()) if _MARK.match(part) else " ".join(part.split())


def _named(section: Section) -> dict[str, str]:
    return {"path": _clip(SEPARATOR.join(section.path)), "anchor": f"#{_clip(section.anchor)}"}


def _clip(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…"


def _only(text: str, start: int, end: int, number: int, edit: TextEdit) -> tuple[int, int]:
    """Find the one place of an exact text."""
    assert edit.find
    first = text.find(edit.find, start, end)
    places = [first] if first >= 0 else []
    while places and len(places) <= _SHOWN and (more := text.find(edit.find, places[-1] + 1, end)) >= 0:
        places.append(more)
    if len(places) == 1:
        return first, first + len(edit.find)
    where = f" in section {_clip(edit.section)!r}" if edit.section is not None else ""
    shown = [_seen(text, place, len(edit.find)) for place in places[:_SHOWN]]
    count = f"{_SHOWN} or more" if len(places) > _SHOWN else str(len(places))
    if places:
        lines = ", ".join(str(item["line"]) for item in shown)
        message = f"the text {_clip(edit.find)!r} is there {count} times{where}, on lines {lines}; send more of it"
        raise EditError(number, "find", "ambiguous", message, {"count": len(places), "places": shown})
    message = f"the text {_clip(edit.find)!r} is not there{where}; it must be exact, blanks and line ends included"
    if edit.section is not None and (count_outside := text.count(edit.find)):
        message += f" ({count_outside} times elsewhere)"
    raise EditError(number, "find", "absent", message, {"count": 0, "places": []})


def _seen(text: str, place: int, length: int) -> dict[str, Any]:
    end = place + min(length, _SHOWN_CHARACTERS)
    return {"line": text.count("\n", 0, place) + 1, "text": text[max(0, place - _AROUND) : end + _AROUND]}


def _last(outline: Sequence[Section], at: int) -> int:
    """Give the end of a section with all that is below it."""
    end = outline[at].end
    for section in outline[at + 1 :]:
        if section.level <= outline[at].level:
            break
        end = section.end
    return end


def _own_text(text: str, section: Section) -> tuple[int, int]:
    """Give the whole lines of a section's own text, without blank lines around them; both are equal if it has none."""
    body = text[section.body_start : section.end]
    if not body.strip():
        return section.body_start, section.body_start
    start = section.body_start + body.rfind("\n", 0, len(body) - len(body.lstrip())) + 1
    last = section.body_start + len(body.rstrip())
    newline = text.find("\n", last, section.end)
    return start, (section.end if newline < 0 else newline + 1)


def _place(text: str, outline: Sequence[Section], at: int | None, where: Where) -> int:
    if at is None:
        return 0 if where in (Where.START, Where.BEFORE) else len(text)
    section = outline[at]
    if where is Where.BEFORE:
        return section.start
    if where is Where.START:
        return section.body_start
    return _own_text(text, section)[1] if where is Where.END else _last(outline, at)


def _inserted(text: str, place: int, number: int, new: str) -> _Patch:
    """Insert whole lines: a line end is added where the text around, or the new text, lacks one."""
    opened = _line_end(text) if new and place and text[place - 1] not in "\r\n" else ""
    return _Patch(place, place, opened + _closed(text, place, new), number)


def _closed(text: str, place: int, new: str) -> str:
    needs = new and place < len(text) and not new.endswith(("\n", "\r"))
    return new + _line_end(text) if needs else new


def _line_end(text: str) -> str:
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"
