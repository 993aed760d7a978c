"""MCP faces of accounts (contract: tool 1)."""

from __future__ import annotations

from app.edge.mcp.tool import READS, Tool
from app.features.accounts import operations, text

TOOLS = [
    Tool(
        1,
        "get_user_info",
        "Who am I",
        "Tell whose account this is: name, email, permissions, workspace, plan and usage. "
        "Use it to check access when a call is refused.",
        operations.get_me,
        READS,
        text.user,
    )
]
