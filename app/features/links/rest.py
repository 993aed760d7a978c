"""REST faces of public links."""

from __future__ import annotations

from app.edge.rest.router import Rest
from app.features.links import operations

ROUTES = [
    Rest("GET", "/v1/links", operations.list_links, core=False),
    Rest("POST", "/v1/links", operations.create_link, status=201, core=False),
    Rest("DELETE", "/v1/links/{linkId}", operations.revoke_link, status=204, core=False),
]
