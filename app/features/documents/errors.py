"""What can be wrong with a request about a document."""

from __future__ import annotations

from typing import Literal

from app.kit.errors import AppError, Kind, NotFound
from app.kit.revision import etag


class DocumentNotFound(NotFound):
    """Absent, deleted, or another workspace's."""

    def __init__(self) -> None:
        super().__init__("Document not found. List or search documents to find its id.")


class VersionNotFound(NotFound):
    """The document has no such version."""

    def __init__(self) -> None:
        super().__init__("Version not found. List the document's versions to find its id.")


class CollectionNotFound(NotFound):
    """The collection that a list was to be narrowed to is absent."""

    def __init__(self) -> None:
        super().__init__("Collection not found. Leave collectionId out to list all documents.")


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


class RevisionMismatch(AppError):
    """The precondition names a revision that is not current: 412 from `If-Match`, 409 from `expectedRevision`."""

    kind: Kind = Kind.CONFLICT
    reason = "REVISION_MISMATCH"

    def __init__(self, form: Literal["header", "body"], revision: int, content_hash: str) -> None:
        super().__init__(
            f"The document is at revision {revision} now. Read it again; stop if it already says what you want, "
            "else apply the change to the latest content and send it with that revision.",
            details={"currentRevision": revision, "contentHash": content_hash},
            etag=etag(revision, content_hash),
        )
        if form == "header":
            self.kind = Kind.PRECONDITION_FAILED
