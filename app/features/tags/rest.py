"""REST faces of tags."""

from __future__ import annotations

from app.edge.rest.router import Rest
from app.features.tags import operations

ROUTES = [Rest("GET", "/v1/tags", operations.list_tags, core=False)]
