"""MCP face of reasoning (contract: tool 27)."""

from __future__ import annotations

from app.edge.mcp.tool import READS, Tool
from app.features.reason import operations, text

TOOLS = [
    Tool(
        27,
        "reason",
        "Reason",
        "Answer a question from stored documents (not prompts), each statement with a checked citation, and say what "
        "is not covered. Writes nothing. To read the passages yourself use deep_search.",
        operations.reason,
        READS,
        text.answer,
    ),
]
