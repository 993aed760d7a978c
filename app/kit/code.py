"""Code in Markdown, without a parser."""

from __future__ import annotations

import re

_TICKS = re.compile(r"`{3,}")


def code_block(text: str, language: str = "") -> str:
    """Write a text as a block of code, within a fence that is longer than any in it."""
    fence = "`" * max((len(run) + 1 for run in _TICKS.findall(text)), default=3)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
