"""REST faces of coordination."""

from __future__ import annotations

from app.edge.rest.router import Rest
from app.features.leases import operations

_PATH = "/v1/documents/{documentId}/coordination"

ROUTES = [
    Rest("GET", _PATH, operations.get_coordination),
    Rest("PUT", _PATH, operations.set_policy),
    Rest("DELETE", _PATH, operations.clear_policy),
    Rest("POST", f"{_PATH}/lease", operations.change_lease),
]
