"""The caller's own account as an MCP resource."""

from __future__ import annotations

from app.edge.mcp.resource import ResourceTemplate
from app.features.accounts import operations, text

TEMPLATES = [
    ResourceTemplate(
        "contextrepo://user/profile",
        "profile",
        "Your profile",
        "Who the credential stands for: name, permissions, workspace, plan and usage.",
        operations.get_me,
        None,
        text.user,
    )
]
