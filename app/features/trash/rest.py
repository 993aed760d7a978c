"""REST faces of the trash."""

from __future__ import annotations

from app.edge.rest.router import Rest
from app.features.trash import operations

ROUTES = [
    Rest("GET", "/v1/trash", operations.list_trash, core=False),
    Rest("POST", "/v1/trash/{itemId}/restore", operations.restore_item, core=False),
    Rest("DELETE", "/v1/trash/{itemId}", operations.purge_item, core=False),
]
