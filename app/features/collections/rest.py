"""REST faces of collections."""

from __future__ import annotations

from app.edge.rest.router import Rest
from app.features.collections import operations

_ITEMS = "/v1/collections/{collectionId}/items"

ROUTES = [
    Rest("GET", "/v1/collections", operations.list_collections),
    Rest(
        "POST",
        "/v1/collections",
        operations.create_collection,
        status=201,
        location=lambda result: f"/v1/collections/{result.data.id}",
    ),
    Rest("GET", "/v1/collections/{collectionId}", operations.get_collection),
    Rest("PATCH", "/v1/collections/{collectionId}", operations.update_collection),
    Rest("DELETE", "/v1/collections/{collectionId}", operations.delete_collection, status=204),
    Rest("GET", _ITEMS, operations.list_items),
    Rest("POST", _ITEMS, operations.add_items),
    Rest("PUT", _ITEMS, operations.remove_items),
]
