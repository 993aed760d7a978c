"""Collections as MCP resources."""

from __future__ import annotations

from app.edge.mcp.resource import ResourceTemplate
from app.features.collections import operations, text

TEMPLATES = [
    ResourceTemplate(
        "contextrepo://collections/{id}",
        "collection",
        "Collection",
        "A collection by id, with its items.",
        operations.open_collection,
        "collectionId",
        text.opened,
    )
]
