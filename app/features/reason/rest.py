"""REST faces of reasoning (contract: operation 34) and of citations."""

from __future__ import annotations

from app.edge.rest.router import Rest
from app.features.reason import operations

ROUTES = [
    Rest("POST", "/v1/reason", operations.reason),
    Rest("GET", "/v1/citations/{citationId}", operations.open_citation, core=False),
]
