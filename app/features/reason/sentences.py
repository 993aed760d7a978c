"""Sentences of passages, and how much two texts have in common by their words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAMES: Final = r"[^\W\d_] Mr Ms Dr St vs cf Jr Sr Mrs Rev Gen Gov Sen Prof U\.S"
"""What a period behind ends no sentence: initials, and how people and cases are named."""
_END = re.compile(
    "(?:" + "".join(rf"(?<!\b{name})" for name in _NAMES.split()) + r"\.|[!?…])[\"')\]*_”’»]{0,3}\s+(?![a-z])"
    r"|[。！？]+[」』）”]{0,3}\s*|[\r\n]+"
)
_LEAD = re.compile(r"(?:[-*+>#|]+\s+|\d{1,3}[.)]\s+|\s+)*")
_ENDINGS: Final = ("ings", "ing", "edly", "ied", "ies", "ed", "es", "ly", "s", "e")
_STEM: Final = 3
_WIDE: Final = "\u2e80"
_WORD = re.compile(r"[^\W_](?:[\w']*[^\W_])?")
"""From a letter or digit to one: what stands around a word, as quotes or the marks of Markdown do, is none of it."""
_SHORTEST: Final = 8
_COMMON_WORDS: Final = """
a an and are as at be been but by can could did do does for from had has have how i if in into is it its me my of on or
our shall should so than that the their them then there these they this those to us was we were what when where which
who whom whose why will with would you your about much many long often get got any tell according after all also because
been before being both during each her him his may might mentioned must need needs one only other over regarding related
said say says she some such through under until up very while within done means mean meant doing
"""
COMMON: Final = frozenset(_COMMON_WORDS.split())
"""English words that every text has."""
_SAME_SUBJECT: Final = 0.6
_NEGATIONS: Final = frozenset({"not", "no", "never", "none", "neither", "nor", "without", "cannot"})


def spans(text: str) -> Iterator[tuple[int, int]]:
    """Give the sentences and lines of a passage that say something, without list and quote marks before them."""
    position = 0
    for boundary in _END.finditer(text):
        yield from _trimmed(text, position, boundary.end())
        position = boundary.end()
    yield from _trimmed(text, position, len(text))


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    lead = _LEAD.match(text, start, end)
    start = lead.end() if lead else start
    end = start + len(text[start:end].rstrip())
    if end - start >= _SHORTEST or (end > start and text[start] >= _WIDE):
        yield start, end


def folded(text: str) -> str:
    """Write a text as words are compared: in one case, with one apostrophe."""
    return text.casefold().replace("’", "'")


def terms(text: str) -> frozenset[str]:
    """Give the words that carry meaning, cut to their stems; scripts without spaces give pairs of characters."""
    found: set[str] = set()
    for word in _WORD.findall(folded(text)):
        if word >= _WIDE:
            found.update(word[at : at + 2] for at in range(max(len(word) - 1, 1)))
        elif word not in COMMON:
            found.add(stem(word.removesuffix("'s")))
    return frozenset(found)


def stem(word: str) -> str:
    """Cut a common ending off a word."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM:
            return word.removesuffix(ending)
    return word


def differing(one: str, other: str) -> frozenset[str]:
    """Give the terms in which two sentences of one subject say something else; none where they do not.

    One subject: most of their words are the same. Something else: each has words of its own, or one negates.
    """
    ours, theirs = terms(one), terms(other)
    alike = 2 * len(ours & theirs) / max(len(ours) + len(theirs), 1)
    negated = bool((ours ^ theirs) & _NEGATIONS) or ("n't" in folded(one)) != ("n't" in folded(other))
    if alike < _SAME_SUBJECT or not (negated or (ours - theirs and theirs - ours)):
        return frozenset()
    return ours ^ theirs
