"""The one table from kinds of errors to wires, and both envelopes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pydantic_core

from app.edge.asgi import quoted
from app.gate.limiter import RateState
from app.gate.policy import Scope
from app.kit.errors import AppError, InsufficientScope, Internal, Kind, RateLimited, Unauthenticated

if TYPE_CHECKING:
    from app.edge.discovery.protected_resource import ProtectedResource

STATUS: dict[Kind, int] = {
    Kind.INVALID: 400,
    Kind.UNAUTHENTICATED: 401,
    Kind.PAYMENT_REQUIRED: 402,
    Kind.FORBIDDEN: 403,
    Kind.NOT_FOUND: 404,
    Kind.METHOD_NOT_ALLOWED: 405,
    Kind.CONFLICT: 409,
    Kind.GONE: 410,
    Kind.PRECONDITION_FAILED: 412,
    Kind.TOO_LARGE: 413,
    Kind.UNSUPPORTED_MEDIA_TYPE: 415,
    Kind.UNPROCESSABLE: 422,
    Kind.PRECONDITION_REQUIRED: 428,
    Kind.LIMITED: 429,
    Kind.INTERNAL: 500,
    Kind.UPSTREAM: 502,
    Kind.UPSTREAM_TIMEOUT: 504,
    Kind.UNAVAILABLE: 503,
}


def status_of(error: AppError) -> int:
    """Give the HTTP status of an error."""
    return STATUS[error.kind]


def error_object(error: AppError, request_id: str) -> dict[str, Any]:
    """Build the `error` object that REST bodies and failed tools share."""
    return {
        "code": status_of(error),
        "reason": error.reason,
        "message": error.message,
        "details": error.details,
        "requestId": request_id,
    }


def envelope(error: AppError, request_id: str) -> bytes:
    """Serialize `{"error": {…}}`."""
    return pydantic_core.to_json({"error": error_object(error, request_id)})


def internal(request_id: str) -> Internal:
    """Make the opaque error that stands for any fault of ours."""
    return Internal(f"Something went wrong on our side. Report request id {request_id} if it lasts.")


def challenge(error: AppError, resource: ProtectedResource) -> str | None:
    """Write `WWW-Authenticate` (RFC 6750 section 3, RFC 9728 section 5.1) for a 401, or a 403 over OAuth.

    A 401 lists every scope, so that a client asks once; a 403 lists what the token has and what it lacks.
    """
    if isinstance(error, Unauthenticated):
        parts = {"error": "invalid_token", "error_description": error.message} if error.presented else {}
        names = list(resource.vocabulary.names)
    elif isinstance(error, InsufficientScope) and error.granted is not None:
        parts = {"error": "insufficient_scope"}
        names = resource.vocabulary.write(map(Scope, error.granted.union(error.scopes)))
    else:
        return None
    parts |= {"scope": " ".join(names), "resource_metadata": resource.metadata_url}
    return "Bearer " + ", ".join(f"{name}={quoted(value)}" for name, value in parts.items())


def error_headers(error: AppError, resource: ProtectedResource) -> list[tuple[bytes, bytes]]:
    """Give the headers that belong to an error."""
    headers = timing_headers(error)
    if error.etag is not None:
        headers.append((b"etag", error.etag.encode()))
    if (text := challenge(error, resource)) is not None:
        headers.append((b"www-authenticate", text.encode()))
    return headers


def timing_headers(error: AppError) -> list[tuple[bytes, bytes]]:
    """Tell when to try again, and which allowance is spent."""
    headers: list[tuple[bytes, bytes]] = []
    if error.retry_after is not None:
        headers.append((b"retry-after", str(error.retry_after).encode()))
    if isinstance(error, RateLimited):
        spent = RateState(allowed=False, limit=error.limit, remaining=0, reset_seconds=error.retry_after or 1)
        headers.extend(rate_headers(spent))
    return headers


def rate_headers(rate: RateState) -> list[tuple[bytes, bytes]]:
    """Give the `X-RateLimit-*` headers of a counted call; `Reset` is in seconds from now."""
    return [
        (b"x-ratelimit-limit", str(rate.limit).encode()),
        (b"x-ratelimit-remaining", str(rate.remaining).encode()),
        (b"x-ratelimit-reset", str(rate.reset_seconds).encode()),
    ]
