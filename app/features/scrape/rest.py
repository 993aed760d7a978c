"""REST faces of pages."""

from __future__ import annotations

from app.edge.rest.router import Rest
from app.features.scrape import operations

ROUTES = [
    Rest(
        "POST",
        "/v1/documents/scrape",
        operations.scrape_document,
        status=202,
        location=lambda result: f"/v1/documents/{result.data.id}",
    ),
    Rest("POST", "/v1/documents/{documentId}/refresh", operations.refresh_document),
]
