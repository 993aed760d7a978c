"""Blocks of code in Markdown: writing one, and ending one that was left open."""

from __future__ import annotations

import re
from typing import Final

from app.kit.markdown.blocks import Kind, parse

_TICKS = re.compile(r"`{3,}")
_OPENING = re.compile(r" {0,3}(`{3,}|~{3,})")
_AFTER: Final = "\n\nA paragraph that follows."


def code_block(text: str, language: str = "") -> str:
    """Write a text as a block of code, within a fence that is longer than any in it."""
    fence = "`" * max((len(run) + 1 for run in _TICKS.findall(text)), default=3)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def closed(text: str) -> str:
    """End the block of code that a text leaves open, so that what is put after it does not become a part of it."""
    if "```" not in text and "~~~" not in text:
        return text
    last = parse(text + _AFTER).blocks[-1]
    opening = _OPENING.match(text, last.start)
    return f"{text}\n{opening[1]}" if opening and last.kind is Kind.CODE else text
