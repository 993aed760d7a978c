"""What can be wrong with a request about a document."""

from __future__ import annotations

from app.kit.errors import AppError, Kind, NotFound


class DocumentNotFound(NotFound):
    """Absent, deleted, or another workspace's."""

    def __init__(self) -> None:
        super().__init__("Document not found. List or search documents to find its id.")


class VersionNotFound(NotFound):
    """The document has no such version."""

    def __init__(self) -> None:
        super().__init__("Version not found. List the document's versions to find its id.")


class LeaseRequired(AppError):
    """The document is lease-managed and the write shows no lease."""

    kind = Kind.CONFLICT
    reason = "LEASE_REQUIRED"

    def __init__(self) -> None:
        super().__init__(
            "This document is lease-managed. Acquire a lease with POST /v1/documents/{id}/coordination/lease and send "
            "X-ContextRepo-Lease-Id, X-ContextRepo-Lease-Fence, Idempotency-Key and the revision with the write "
            "(over MCP: the surface /mcp/all)."
        )


class LeaseLost(AppError):
    """The lease that is shown is not the current one, has ended or was released."""

    kind = Kind.CONFLICT
    reason = "LEASE_LOST"

    def __init__(self) -> None:
        super().__init__(
            "The lease is over: it expired, was released, or was taken by another writer. Read the document again, "
            "acquire a new lease and redo the change."
        )
