"""Stored prompts as prompts of the protocol (contract: section 1.1, "Native prompts")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mcp_types as types

from app.edge.mcp.prompt import PromptSource
from app.features.prompts import operations
from app.features.prompts.schemas import MAX_DESCRIPTION
from app.features.prompts.service import render
from app.kit.paging import MAX_LIMIT
from app.kit.sanitize import one_line

if TYPE_CHECKING:
    from app.features.prompts.schemas import Prompt, PromptItem, Variable
    from app.kit.schema import One, Page


def _page(cursor: str | None) -> dict[str, Any]:
    return {"limit": MAX_LIMIT, "cursor": cursor}


def listed(page: Page[PromptItem]) -> types.ListPromptsResult:
    """Show a page of prompts, each by its id."""
    return types.ListPromptsResult(prompts=[_shown(item) for item in page.data], next_cursor=page.pagination.cursor)


def filled(result: One[Prompt], arguments: dict[str, str]) -> types.GetPromptResult:
    """Give a prompt's text as one message of the user; but for declared variables it is the stored text.

    Raises:
        InvalidRequest: a value is not of its variable's type.
    """
    prompt = result.data
    content = types.TextContent(text=render(prompt.content, prompt.variables, arguments))
    return types.GetPromptResult(
        description=one_line(prompt.title, MAX_DESCRIPTION),
        messages=[types.PromptMessage(role="user", content=content)],
    )


def _shown(item: PromptItem) -> types.Prompt:
    title = one_line(item.title, MAX_DESCRIPTION)
    said = f" - {one_line(item.description, MAX_DESCRIPTION)}" if item.description else ""
    return types.Prompt(
        name=str(item.id),
        title=title,
        description=title + said,
        arguments=[_argument(variable) for variable in item.variables],
    )


def _argument(variable: Variable) -> types.PromptArgument:
    said = [one_line(variable.description, MAX_DESCRIPTION)] if variable.description else []
    if variable.type != "string":
        said.append(f"(JSON: {variable.type})")
    return types.PromptArgument(name=variable.name, description=" ".join(said) or None, required=False)


PROMPTS = [PromptSource(operations.list_prompts, _page, listed, operations.get_prompt, "promptId", filled)]
