"""REST faces of imports."""

from __future__ import annotations

from app.edge.rest.router import Rest
from app.features.imports import operations

ROUTES = [
    Rest(
        "POST",
        "/v1/imports",
        operations.start_import,
        status=201,
        core=False,
        location=lambda result: f"/v1/imports/{result.data.id}",
    ),
    Rest("PUT", "/v1/imports/{importId}/chunks/{number}", operations.put_chunk, core=False),
    Rest("POST", "/v1/imports/{importId}:finish", operations.finish_import, core=False),
    Rest("GET", "/v1/imports/{importId}", operations.get_import, core=False),
]
