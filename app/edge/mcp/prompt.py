"""Prompts of the protocol as data: the operations behind `prompts/list` and `prompts/get`, and how results look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import mcp_types as types

    from app.gate.operation import Operation


@dataclass(frozen=True, slots=True)
class PromptSource:
    """Where a surface's prompts come from.

    `page` gives the arguments of `listing` for a cursor. `name_field` is the argument of `reading` that takes a
    prompt's name. `filled` puts the caller's values into what was read and may refuse them.
    """

    listing: Operation[Any, Any]
    page: Callable[[str | None], dict[str, Any]]
    listed: Callable[[Any], types.ListPromptsResult]
    reading: Operation[Any, Any]
    name_field: str
    filled: Callable[[Any, dict[str, str]], types.GetPromptResult]
