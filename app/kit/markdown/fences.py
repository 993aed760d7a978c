"""Blocks of code that a Markdown text leaves open."""

from __future__ import annotations

import re
from typing import Final

from app.kit.markdown.blocks import Kind, parse

_OPENING = re.compile(r" {0,3}(`{3,}|~{3,})")
_AFTER: Final = "\n\nA paragraph that follows."


def closed(text: str) -> str:
    """End the block of code that a text leaves open, so that what is put after it does not become a part of it."""
    if "```" not in text and "~~~" not in text:
        return text
    last = parse(text + _AFTER).blocks[-1]
    opening = _OPENING.match(text, last.start)
    return f"{text}\n{opening[1]}" if opening and last.kind is Kind.CODE else text
