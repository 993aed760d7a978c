"""REST faces of accounts."""

from __future__ import annotations

from app.edge.rest.router import Rest
from app.features.accounts import operations

ROUTES = [Rest("GET", "/v1/user/me", operations.get_me)]
