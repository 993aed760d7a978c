"""Errors are facts with a kind; the edge maps kinds to the wires (contract: decisions on the wire, "Reasons")."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar

from app.kit.revision import etag

if TYPE_CHECKING:
    from app.kit.revision import Precondition


class Kind(StrEnum):
    """What sort of refusal a fact is; `app.edge.errors` gives each kind its HTTP status."""

    INVALID = "invalid"
    UNAUTHENTICATED = "unauthenticated"
    PAYMENT_REQUIRED = "payment_required"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    CONFLICT = "conflict"
    GONE = "gone"
    PRECONDITION_FAILED = "precondition_failed"
    TOO_LARGE = "too_large"
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type"
    UNPROCESSABLE = "unprocessable"
    PRECONDITION_REQUIRED = "precondition_required"
    LIMITED = "limited"
    INTERNAL = "internal"
    UPSTREAM = "upstream"
    UPSTREAM_TIMEOUT = "upstream_timeout"
    UNAVAILABLE = "unavailable"


class AppError(Exception):
    """A refusal that the caller can act on.

    `reason` is the word on the wire, `details` is JSON for programs, `retry_after` is in seconds, `etag` is the
    current entity tag where the refusal is about a revision.
    """

    kind: Kind = Kind.INTERNAL
    reason: ClassVar[str] = "INTERNAL"

    def __init__(
        self, message: str, *, details: Any = None, retry_after: int | None = None, etag: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.details = details
        self.retry_after = retry_after
        self.etag = etag


class InvalidRequest(AppError):
    """The request cannot be understood: bad JSON, unknown or missing fields, wrong types."""

    kind = Kind.INVALID
    reason = "INVALID_REQUEST"


class PreconditionConflict(AppError):
    """`If-Match` and `expectedRevision` were both sent and name different revisions."""

    kind = Kind.INVALID
    reason = "PRECONDITION_CONFLICT"


class RevisionMismatch(AppError):
    """The precondition names a revision that is not current: 412 from `If-Match`, 409 from `expectedRevision`."""

    kind: Kind = Kind.CONFLICT
    reason = "REVISION_MISMATCH"

    def __init__(
        self,
        what: str,
        expected: Precondition | None,
        revision: int,
        content_hash: str,
        more: dict[str, Any] | None = None,
    ) -> None:
        merged = " details.merged is the content with both changes; send it if that is what you want."
        hint = merged if more and "merged" in more else ""
        named = expected is not None and revision in expected.revisions
        other = ", as the entity tag says, but what it holds has another content hash than the tag" if named else ""
        super().__init__(
            f"The {what} is at revision {revision} now{other}. Read it again; stop if it already says what you want, "
            f"else apply the change to the latest content and send it with that revision.{hint}",
            details={"currentRevision": revision, "contentHash": content_hash} | (more or {}),
            etag=etag(revision, content_hash),
        )
        if expected is not None and expected.form == "header":
            self.kind = Kind.PRECONDITION_FAILED


class PreconditionRequired(AppError):
    """The operation must say which state it is based on, or carry an `Idempotency-Key`, and does not."""

    kind = Kind.PRECONDITION_REQUIRED
    reason = "PRECONDITION_REQUIRED"


class Unauthenticated(AppError):
    """No credential, or one that is unknown, expired or revoked."""

    kind = Kind.UNAUTHENTICATED
    reason = "UNAUTHENTICATED"

    def __init__(self, message: str, *, presented: bool = False) -> None:
        super().__init__(message)
        self.presented = presented  # RFC 6750 section 3.1: no error code when no credential was sent


class PlanRequired(AppError):
    """The workspace has no active plan."""

    kind = Kind.PAYMENT_REQUIRED
    reason = "PLAN_REQUIRED"


class FeatureNotInPlan(AppError):
    """The plan lacks the feature; `details.plansWithFeature` names those that have it."""

    kind = Kind.PAYMENT_REQUIRED
    reason = "FEATURE_NOT_IN_PLAN"


class QuotaExceeded(AppError):
    """An allowance is used up; `details` holds `meter`, `limit`, `used` and `resetsAt`."""

    kind = Kind.PAYMENT_REQUIRED
    reason = "QUOTA_EXCEEDED"


class EntitlementUnavailable(AppError):
    """The plan could not be read just now."""

    kind = Kind.UNAVAILABLE
    reason = "ENTITLEMENT_UNAVAILABLE"


class InsufficientScope(AppError):
    """The credential lacks the scope that the operation needs."""

    kind = Kind.FORBIDDEN
    reason = "INSUFFICIENT_SCOPE"

    def __init__(self, scopes: tuple[str, ...], *, granted: frozenset[str] | None = None, every: bool = False) -> None:
        needed = (" and " if every else " or ").join(scopes)
        super().__init__(
            f"This credential lacks the scope {needed}; use one that was granted it.", details={"scopes": list(scopes)}
        )
        self.scopes = scopes
        self.granted = granted  # what an OAuth token has: its client may ask for more (None: nobody can be asked)


class EveryScopeNeeded(InsufficientScope):
    """The operation is for a person, and the token was given a part of what that person may do."""

    def __init__(self, lacking: tuple[str, ...], granted: frozenset[str]) -> None:
        super().__init__(lacking, granted=granted, every=True)
        self.message = (
            "This stands for the person as a whole and needs a token that was granted every scope; authorize again and "
            f"ask for these too: {', '.join(lacking)}."
        )


class WholeWorkspaceOnly(AppError):
    """The credential is restricted to collections, and this is about the workspace as a whole."""

    kind = Kind.FORBIDDEN
    reason = "INSUFFICIENT_SCOPE"

    def __init__(self) -> None:
        super().__init__("This key is restricted to some collections; use one that sees the whole workspace.")


class NotFound(AppError):
    """Absent, or not the caller's: the two answer alike."""

    kind = Kind.NOT_FOUND
    reason = "NOT_FOUND"


class Gone(AppError):
    """What was asked for has been removed for good."""

    kind = Kind.GONE
    reason = "GONE"


class MethodNotAllowed(AppError):
    """The path exists but not with this method."""

    kind = Kind.METHOD_NOT_ALLOWED
    reason = "METHOD_NOT_ALLOWED"


class PayloadTooLarge(AppError):
    """The body is over the limit."""

    kind = Kind.TOO_LARGE
    reason = "PAYLOAD_TOO_LARGE"


class UnsupportedMediaType(AppError):
    """The body's media type is not the one that the operation reads."""

    kind = Kind.UNSUPPORTED_MEDIA_TYPE
    reason = "UNSUPPORTED_MEDIA_TYPE"


class IdempotencyKeyReused(AppError):
    """The `Idempotency-Key` was used before with another request."""

    kind = Kind.UNPROCESSABLE
    reason = "IDEMPOTENCY_KEY_REUSED"


class IdempotencyInProgress(AppError):
    """A request with the same `Idempotency-Key` is still running."""

    kind = Kind.CONFLICT
    reason = "IDEMPOTENCY_IN_PROGRESS"


class SignInRequired(AppError):
    """The operation is for a person who is signed in; keys are refused, and tokens where only a browser may do it."""

    kind = Kind.FORBIDDEN
    reason = "INSUFFICIENT_SCOPE"

    def __init__(self) -> None:
        super().__init__("Only a signed-in person may do this; open the dashboard and sign in.")


class CrossSite(AppError):
    """A write that carries a person's cookie came from another site's page."""

    kind = Kind.FORBIDDEN
    reason = "CROSS_SITE"

    def __init__(self) -> None:
        super().__init__(
            "Pages of other sites may not act for a signed-in person: a write with a browser's cookie must come from "
            "this service's own pages (`Origin`). Programs send an API key or a token instead."
        )


class RateLimited(AppError):
    """The rate family's allowance of the window is spent."""

    kind = Kind.LIMITED
    reason = "RATE_LIMITED"

    def __init__(self, message: str, *, limit: int, retry_after: int) -> None:
        super().__init__(message, details={"limit": limit}, retry_after=retry_after)
        self.limit = limit


class Unavailable(AppError):
    """The service cannot serve this just now; retry later."""

    kind = Kind.UNAVAILABLE
    reason = "UNAVAILABLE"


class Internal(AppError):
    """A fault of ours; the message carries nothing of it."""

    kind = Kind.INTERNAL
    reason = "INTERNAL"
