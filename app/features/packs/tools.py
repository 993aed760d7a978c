"""MCP faces of packs; they stand on the surface with every tool alone."""

from __future__ import annotations

from app.edge.mcp.tool import ADDS, READS, Tool
from app.features.packs import operations, text

TOOLS = [
    Tool(
        111,
        "make_pack",
        "Make context pack",
        "Put what is stored about a query, or in a collection or document, into one text within a budget of tokens: "
        "with its revisions, an exact count, what was left out, and a hash that others can get it by.",
        operations.make_pack,
        ADDS,
        text.pack,
        wide=True,
    ),
    Tool(
        112,
        "get_pack",
        "Get context pack",
        "Get a pack again by the hash that make_pack gave, byte for byte.",
        operations.get_pack,
        READS,
        text.pack,
        wide=True,
    ),
]
