"""Documents as MCP resources."""

from __future__ import annotations

from app.edge.mcp.resource import ResourceTemplate
from app.features.documents import operations, text

TEMPLATES = [
    ResourceTemplate(
        "contextrepo://documents/{id}",
        "document",
        "Document",
        "A stored document by id: facts and content as Markdown.",
        operations.get_document,
        "documentId",
        text.document,
    )
]
