"""REST faces of passages (contract: operations 30 to 33)."""

from __future__ import annotations

from app.edge.rest.router import Rest
from app.features.navigation import operations

ROUTES = [
    Rest("POST", "/v1/pd/session", operations.begin_session),
    Rest("POST", "/v1/pd/search", operations.search_passages),
    Rest("POST", "/v1/pd/expand", operations.expand_chunk),
    Rest("GET", "/v1/pd/read/{chunkId}", operations.read_chunk),
]
