"""What can be wrong with a request about a document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.kit.errors import AppError, Kind, NotFound

if TYPE_CHECKING:
    from app.kit.markdown import EditError


class DocumentNotFound(NotFound):
    """Absent, deleted, or another workspace's."""

    def __init__(self) -> None:
        super().__init__("Document not found. List or search documents to find its id.")


class VersionNotFound(NotFound):
    """The document has no such version."""

    def __init__(self) -> None:
        super().__init__(
            "Version not found. List the document's versions to find its id; what a document was before its file was "
            "read is none of them."
        )


class RevisionNotFound(NotFound):
    """The document has no such revision, or had none by then."""

    def __init__(self) -> None:
        super().__init__(
            "Revision not found. The document has its text from 1 to its current `revision`; list its versions to see "
            "when each was made."
        )


class RevisionPartial(NotFound):
    """The revision came with an import that did not keep all of it; `details.fields` names what is lacking."""

    def __init__(self, revision: int, fields: list[str]) -> None:
        lost = " and ".join(fields)
        compared = "" if "content" in fields else ", and a comparison (/diff, get_document_diff) has its text"
        super().__init__(
            f"Revision {revision} was not found as a whole: the import that it came with did not keep its {lost}. The "
            f"document's versions (/versions, get_document_versions) show what was kept{compared}.",
            details={"revision": revision, "fields": fields},
        )


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


class HeldInTrash(LeaseRequired):
    """The document was deleted under a lease that is live still, and the caller does not show it."""

    reason = "LEASE_REQUIRED"

    def __init__(self, seconds: int) -> None:
        super().__init__()
        self.message = (
            f"This document was deleted under a lease that is live for up to {seconds} s. Whoever holds it sends "
            "X-ContextRepo-Lease-Id and X-ContextRepo-Lease-Fence with this request; anybody else waits until it has "
            "ended: then nothing is needed, since in the trash no lease can be acquired."
        )
        self.retry_after = seconds


class LeaseLostInTrash(LeaseLost):
    """The document is in the trash, and the lease that is shown for it is over."""

    def __init__(self) -> None:
        super().__init__()
        self.message = (
            "The lease that was sent is over, and in the trash no other can be acquired. Send the request again "
            "without a lease: none is needed, unless another writer holds one still."
        )


class EditNotApplicable(AppError):
    """An edit has no place in the current text, or more than one; no edit of the call was made."""

    kind = Kind.CONFLICT
    reason = "EDIT_NOT_APPLICABLE"

    def __init__(self, error: EditError, revision: int) -> None:
        details: dict[str, Any] = {
            "edit": error.number,
            "field": error.field,
            "problem": error.problem,
            "found": error.found,
            "currentRevision": revision,
        }
        super().__init__(
            f"edits.{error.number}: {error}. Nothing was changed; read the document at revision {revision} and send "
            "edits that fit it.",
            details=details,
        )


class ContentTooLarge(AppError):
    """The edits would make the content larger than a whole one may be."""

    kind = Kind.TOO_LARGE
    reason = "PAYLOAD_TOO_LARGE"

    def __init__(self, limit: int) -> None:
        super().__init__(f"The content would grow beyond {limit} bytes; go on in another document.")
