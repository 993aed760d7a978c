"""Phrases that the texts of several features share."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any

from app.kit.sanitize import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from app.kit.schema import Page


def found(count: int, what: str) -> str:
    """Begin a list: `Found 2 documents:`."""
    return f"Found {count} {what}{'' if count == 1 else 's'}{':' if count else '.'}"


def page_end(page: Page[Any], tool: str) -> list[str]:
    """End a list: what was cut, and how to go on."""
    lines = [f"Note: {page.notice}"] if page.notice else []
    if page.pagination.has_more:
        lines.append(f'There are more: call {tool} again with cursor="{page.pagination.cursor}".')
    return lines


def tag_list(tags: Sequence[str]) -> str:
    """Write tags on one line."""
    return ", ".join(one_line(tag, 100) for tag in tags)


def moment(when: datetime) -> str:
    """Write a time to the minute."""
    return when.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
