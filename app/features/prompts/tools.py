"""MCP faces of prompts (contract: tools 2 to 8)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from app.edge.mcp.tool import CREATES, DELETES, READS, REPLACES, UPDATES, Tool
from app.features.prompts import operations, text
from app.features.prompts.schemas import ListPrompts


class SearchPrompts(ListPrompts):
    """The tool's word for `q` is `search`."""

    q: Annotated[
        str | None,
        Field(
            default=None,
            alias="search",
            max_length=500,
            description="Only those whose title, description or text holds this.",
        ),
    ]


def _deleted(sent: dict[str, Any]) -> dict[str, Any]:
    return {"id": sent["promptId"], "deleted": True}


TOOLS = [
    Tool(
        2,
        "search_prompts",
        "Search prompts",
        "Find stored prompts by literal text in title, description or content, or by tags; without either, browse "
        "them, newest first. Gives ids for read_prompt.",
        operations.list_prompts,
        READS,
        text.prompts,
        narrowed=SearchPrompts,
    ),
    Tool(
        3,
        "read_prompt",
        "Read prompt",
        "Read one prompt: whole text, variables, tags, version and `revision`. Do this before you use or change it.",
        operations.get_prompt,
        READS,
        text.prompt,
    ),
    Tool(
        4,
        "create_prompt",
        "Create prompt",
        "Save a new prompt when the user wants to keep it. Each `${name}` of the text becomes a variable. "
        "Gives its id.",
        operations.create_prompt,
        CREATES,
        text.created,
    ),
    Tool(
        5,
        "update_prompt",
        "Update prompt",
        "Change a prompt when the user wants it; what is left out stays, what is sent replaces the old value: "
        "read first.",
        operations.update_prompt,
        UPDATES,
        text.updated,
    ),
    Tool(
        6,
        "delete_prompt",
        "Delete prompt",
        "Move a prompt with its versions to the trash, for 30 days. Only on the user's clear wish; read it first. "
        "Deleting one that is gone succeeds.",
        operations.delete_prompt,
        DELETES,
        text.deleted,
        structured=_deleted,
        when_absent=lambda sent: f"Prompt {sent['promptId'][:100]} was already deleted (no-op).",
    ),
    Tool(
        7,
        "get_prompt_versions",
        "List prompt versions",
        "See a prompt's history, newest first: version id, author, change log, labels and content of each version. "
        "Use it to compare, or to find the id for restore_prompt_version.",
        operations.list_prompt_versions,
        READS,
        text.versions,
    ),
    Tool(
        8,
        "restore_prompt_version",
        "Restore prompt version",
        "Make an earlier version's text current again, as a new version, when the user wants it; nothing is lost.",
        operations.restore_prompt_version,
        REPLACES,
        text.restored,
    ),
]
