"""What a statement says that none of the passages it cites mentions: its numbers and names; no model is asked."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Final

from app.kit.language import detect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SCALES: Final = {
    "thousand": 3, "tausend": 3, "mille": 3, "mil": 3,
    "million": 6, "millions": 6, "millionen": 6, "millones": 6, "mio": 6, "mn": 6,
    "billion": 9, "billions": 9, "bn": 9, "milliarde": 9, "milliarden": 9, "milliards": 9, "mrd": 9,
    "trillion": 12, "trillions": 12,
}  # fmt: skip
_DIGITS: Final = r"(?:\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)|\d(?:[\d.,'’]*\d)?)"
_SCALE: Final = "|".join(sorted(_SCALES, key=len, reverse=True))
_NUMBER = re.compile(rf"(?<![\w.]){_DIGITS}(?:\s?(?:{_SCALE})\b)?", re.IGNORECASE)
_GROUPS = re.compile(r"[.,'’ \u00a0\u202f](?=\d{3}(?!\d))")
_SPELLED: Final = 12
"""Whole numbers up to this one are often written as words."""

_ROW = re.compile(r"(?<!\w)(?=[^\W\d_])(?![a-zß-öø-ÿа-яα-ω])\w+(?: (?=[^\W\d_])(?![a-zß-öø-ÿа-яα-ω])\w+)+")
_WORD = re.compile(r"[^\W_]+")


def unmentioned(statement: str, passages: Iterable[str]) -> list[str]:
    """List the numbers, and the names of two words or more, that stand in none of the passages.

    A number counts by its value ("9 billion" is 9,000,000,000); one up to twelve, and a single word, prove nothing:
    the one may be spelled, the other is any noun in German.
    """
    texts = list(passages)
    words = {word.casefold() for text in texts for word in _WORD.findall(text)}
    values = {value for text in texts for _, value in _numbers(text)}
    numbers = [said for said, value in _numbers(statement) if value not in values and not _is_small(value)]
    names = [] if detect(statement) == "german" else _names(statement, words)
    return list(dict.fromkeys(numbers + names))


def _names(statement: str, known: set[str]) -> list[str]:
    """Find words in a row with capitals of which one is not known; at the beginning the first may be any word."""
    return [
        found[0]
        for found in _ROW.finditer(statement)
        if (words := _WORD.findall(found[0]))
        and len(words) > 1
        and all(word[0].isupper() for word in words)
        and any(word.casefold() not in known for word in (words if found.start() else words[1:]))
    ]


def _numbers(text: str) -> Iterator[tuple[str, Decimal | str]]:
    for found in _NUMBER.finditer(text):
        digits = found[0].rstrip(" abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
        scale = _SCALES.get(found[0][len(digits) :].strip().casefold(), 0)
        try:
            value: Decimal | str = Decimal(_GROUPS.sub("", digits).replace(",", ".")).scaleb(scale).normalize()
        except InvalidOperation:
            value = digits  # of a version or a date
        yield found[0], value


def _is_small(value: Decimal | str) -> bool:
    return isinstance(value, Decimal) and value == value.to_integral_value() and value <= _SPELLED
