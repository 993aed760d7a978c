"""REST faces of API keys."""

from __future__ import annotations

from app.edge.rest.router import Rest
from app.features.keys import operations

ROUTES = [
    Rest("GET", "/v1/keys", operations.list_keys, core=False),
    Rest("POST", "/v1/keys", operations.create_key, status=201, core=False),
    Rest("POST", "/v1/keys/{keyId}:rotate", operations.rotate_key, core=False),
    Rest("DELETE", "/v1/keys/{keyId}", operations.revoke_key, status=204, core=False),
]
