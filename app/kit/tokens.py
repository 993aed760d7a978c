"""How many tokens a text costs a model, estimated on the safe side without any tokenizer."""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

CHARACTERS: Final = 4
"""ASCII characters a token; any other character counts as a token of its own."""


def estimate(text: str) -> int:
    """Estimate a text's tokens: close for English, too many rather than too few for other scripts."""
    plain = len(text.encode("ascii", "ignore"))
    return -(-plain // CHARACTERS) + len(text) - plain


def prefix(text: str, budget: int) -> str:
    """Keep the beginning of a text that costs at most `budget` tokens."""
    text = text[: budget * CHARACTERS]
    if estimate(text) <= budget:
        return text
    return text[: bisect_right(range(len(text) + 1), budget, key=lambda length: estimate(text[:length])) - 1]
