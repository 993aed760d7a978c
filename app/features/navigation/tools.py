"""MCP faces of passages (contract: tools 24 to 26)."""

from __future__ import annotations

from app.edge.mcp.tool import READS, Tool
from app.features.navigation import operations, text

TOOLS = [
    Tool(
        24,
        "deep_search",
        "Deep search",
        "Find the passages of stored documents that answer something (find_items tells which item; prompts are not "
        "here). Gives passages with chunkId and `meta.sessionId`: send it next time to get others. "
        "Then deep_read or deep_expand.",
        operations.search_passages,
        READS,
        text.passages,
    ),
    Tool(
        25,
        "deep_read",
        "Deep read",
        "Read one chunk with its section path, neighbours and place in the document; a `cursor` leads on in long ones.",
        operations.read_chunk,
        READS,
        text.chunk,
    ),
    Tool(
        26,
        "deep_expand",
        "Deep expand",
        "Get what stands around a chunk: its section (up), its parts (down), its neighbours.",
        operations.expand_chunk,
        READS,
        text.near,
    ),
]
