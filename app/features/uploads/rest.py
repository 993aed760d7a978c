"""REST faces of uploads."""

from __future__ import annotations

from app.edge.rest.router import Rest
from app.features.uploads import operations

ROUTES = [
    Rest(
        "POST",
        "/v1/documents/upload",
        operations.upload_document,
        status=202,
        core=False,
        location=lambda result: f"/v1/documents/{result.data.id}",
    ),
    Rest("GET", "/v1/documents/{documentId}/original", operations.get_original, core=False),
]
