"""Phrases that the texts of several features share."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any

from app.kit.sanitize import fenced, one_line
from app.kit.trust import whose

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from app.kit.schema import Page
    from app.kit.trust import Trust

UNKNOWN = "(not kept by the import)"
_EXCERPT = 200


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


def stored(text: str, provenance: str, *trusts: Trust | None) -> str:
    """Fence stored text, with where it comes from and whose words may be in it."""
    return fenced(text, whose(provenance, *trusts))


def excerpt(name: str, text: str, trust: Trust | None, limit: int = _EXCERPT) -> list[str]:
    """Show a stored text below an item of a list: its beginning, on a line that says what it is and whose, if any."""
    by = "" if trust is None else f", {trust}"
    return [f"  {name} (stored text{by}): {one_line(text, limit)}"] if text else []


def version_texts(page: Page[Any]) -> list[str]:
    """Fence the beginnings of versions' texts, and what their writers noted of them."""
    lines = []
    for item in page.data:
        content = UNKNOWN if item.content is None else item.content
        lines.append(f"Version {item.version}: {one_line(content, _EXCERPT)}")
        if item.change_log:
            lines.append(f"Change log of version {item.version}: {one_line(item.change_log)}")
    said = "Stored texts, each cut to its beginning (whole in structuredContent)."
    return ["", stored("\n".join(lines), said, *(item.trust for item in page.data))] if lines else []


def moment(when: datetime) -> str:
    """Write a time to the minute."""
    return when.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
