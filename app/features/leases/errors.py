"""What can be wrong with a request about coordination."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.kit.errors import AppError, Kind

if TYPE_CHECKING:
    from datetime import datetime


class PolicyOwnerRequired(AppError):
    """The policy is set by an owner of the workspace or by who created the document."""

    kind = Kind.FORBIDDEN
    reason = "INSUFFICIENT_SCOPE"

    def __init__(self) -> None:
        super().__init__(
            "Only an owner of the workspace or the document's creator may set its policy; ask one of them."
        )


class CoordinationMismatch(AppError):
    """`If-Match` names neither the document's current entity tag nor its coordination's."""

    kind = Kind.PRECONDITION_FAILED
    reason = "REVISION_MISMATCH"

    def __init__(self, revision: int, tag: str) -> None:
        super().__init__(
            "The document or its coordination has changed. Read the coordination again and send its ETag in If-Match.",
            details={"currentRevision": revision},
            etag=tag,
        )


class LeaseNotEnabled(AppError):
    """The document is in standard mode, where writes need no lease."""

    kind = Kind.CONFLICT
    reason = "LEASE_NOT_ENABLED"

    def __init__(self) -> None:
        super().__init__(
            "The document is in standard mode: write it with its revision, without a lease. "
            "An owner can enable leases with PUT /v1/documents/{id}/coordination."
        )


class LeaseHeld(AppError):
    """Somebody holds the lease."""

    kind = Kind.CONFLICT
    reason = "LEASE_HELD"

    def __init__(self, expires_at: datetime, seconds: int) -> None:
        super().__init__(
            f"Another writer holds the lease for up to {seconds} s. Wait for it to be released or to expire, "
            "read the document again, then acquire.",
            details={"expiresAt": int(expires_at.timestamp() * 1000)},
            retry_after=max(1, seconds),
        )
