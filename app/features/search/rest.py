"""REST faces of search."""

from __future__ import annotations

from app.edge.rest.router import Rest
from app.features.search import operations

ROUTES = [Rest("GET", "/v1/search", operations.search_items)]
