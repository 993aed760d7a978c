"""REST faces of documents."""

from __future__ import annotations

from app.edge.rest.router import Rest
from app.features.documents import operations

ROUTES = [
    Rest("GET", "/v1/documents/{documentId}", operations.get_document),
    Rest("PATCH", "/v1/documents/{documentId}", operations.update_document),
    Rest("DELETE", "/v1/documents/{documentId}", operations.delete_document, status=204),
    Rest("GET", "/v1/documents", operations.list_documents),
    Rest(
        "POST",
        "/v1/documents",
        operations.create_document,
        status=201,
        location=lambda result: f"/v1/documents/{result.data.id}",
    ),
    Rest("POST", "/v1/documents:batch", operations.batch_documents, core=False),
    Rest("GET", "/v1/documents/{documentId}/versions", operations.list_versions),
    Rest("GET", "/v1/documents/{documentId}/revisions", operations.list_revisions, core=False),
    Rest("GET", "/v1/documents/{documentId}/diff", operations.diff_document, core=False),
    Rest("POST", "/v1/documents/{documentId}/restore", operations.restore_version),
]
