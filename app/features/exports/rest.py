"""REST faces of exports."""

from __future__ import annotations

from app.edge.rest.router import Rest
from app.features.exports import operations

ROUTES = [
    Rest(
        "POST",
        "/v1/exports",
        operations.start_export,
        status=202,
        core=False,
        location=lambda result: f"/v1/exports/{result.data.id}",
    ),
    Rest("GET", "/v1/exports/{exportId}", operations.get_export, core=False),
    Rest("GET", "/v1/exports/{exportId}/content", operations.get_content, core=False),
]
