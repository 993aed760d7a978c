"""Prompts as MCP resources."""

from __future__ import annotations

from app.edge.mcp.resource import ResourceTemplate
from app.features.prompts import operations, text

TEMPLATES = [
    ResourceTemplate(
        "contextrepo://prompts/{id}",
        "prompt",
        "Prompt",
        "A stored prompt by id: text, variables and facts as Markdown.",
        operations.get_prompt,
        "promptId",
        text.prompt,
    )
]
