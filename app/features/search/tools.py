"""MCP faces of search (contract: tools 23, 28 and 29)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from app.edge.mcp.tool import READS, Tool
from app.features.search import operations, text
from app.features.search.schemas import QueryText, Search


class FindItems(Search):
    """The tool's word for `q` is `query`."""

    q: Annotated[QueryText, Field(alias="query", description="What to look for, in words.")]


TOOLS = [
    Tool(
        23,
        "find_items",
        "Find items",
        "Find prompts, documents and collections about something, by meaning and words, or literally with "
        "semantic=false (names, codes, exact phrases; also text not indexed yet). Start here when work goes on from "
        "another session or client: it finds their decisions, handoffs, conversations. "
        "Gives ids, scores and passages; then get_document, read_prompt or get_collection.",
        operations.search_items,
        READS,
        text.items,
        narrowed=FindItems,
    ),
    Tool(
        28,
        "search",
        "Search",
        "Search everything stored and get ids, titles and links for citations. Read an item with fetch.",
        operations.search_links,
        READS,
        text.links,
    ),
    Tool(
        29,
        "fetch",
        "Fetch",
        "Read the whole text of one item by an id that search gave.",
        operations.fetch_item,
        READS,
        text.fetched,
    ),
]
