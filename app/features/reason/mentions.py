"""What a statement says that none of the passages it cites mentions: its numbers and names; no model is asked."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Final

from app.features.reason import measures
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
_ROW = re.compile(r"(?<!\w)(?=[^\W\d_])(?![a-zß-öø-ÿа-яα-ω])\w+(?: (?=[^\W\d_])(?![a-zß-öø-ÿа-яα-ω])\w+)+")
_WORD = re.compile(r"[^\W_]+")


def unmentioned(statement: str, passages: Iterable[str]) -> list[str]:
    """List the numbers, and the names of two words or more, that stand in none of the passages.

    A number counts by its value ("9 billion" is 9,000,000,000). One up to twelve is judged where it measures, names or
    dates something, and no passage may have it as a word. A single word proves nothing: it is any noun in German.
    """
    texts = list(passages)
    words = {word.casefold() for text in texts for word in _WORD.findall(text)}
    values = {value for text in texts for _, value in _numbers(text)}
    numbers = (
        _small(statement, found, int(value), words, texts) if _is_small(value) else found[0]
        for found, value in _numbers(statement)
        if value not in values
    )
    names = [] if detect(statement) == "german" else _names(statement, words)
    return list(dict.fromkeys([*filter(None, numbers), *names]))


def _small(statement: str, found: re.Match[str], value: int, words: set[str], texts: list[str]) -> str:
    said = measures.measure(statement, found.start(), found.end())
    return "" if not said or measures.may_be_spelled(value, words, texts) else said


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


def _numbers(text: str) -> Iterator[tuple[re.Match[str], Decimal | str]]:
    for found in _NUMBER.finditer(text):
        digits = found[0].rstrip(" abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
        scale = _SCALES.get(found[0][len(digits) :].strip().casefold(), 0)
        try:
            value: Decimal | str = Decimal(_GROUPS.sub("", digits).replace(",", ".")).scaleb(scale).normalize()
        except InvalidOperation:
            value = digits  # of a version or a date
        yield found, value


def _is_small(value: Decimal | str) -> bool:
    return isinstance(value, Decimal) and value == value.to_integral_value() and value <= measures.LARGEST
