"""Why a caller is not admitted, and what would help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.gate.policy import Scope
from app.gate.principal import CredentialKind
from app.kit.errors import (
    AppError,
    EntitlementUnavailable,
    EveryScopeNeeded,
    InsufficientScope,
    PlanRequired,
    SignInRequired,
    Unauthenticated,
)
from app.kit.secrets import looks_like_api_key

if TYPE_CHECKING:
    from app.gate.operation import Operation
    from app.gate.principal import Principal

HOW_TO_SEND = "`Authorization: API-Key <key>` or `Authorization: Bearer <token>`"
_PLAN_RETRY_SECONDS = 5
_NOT_VALID = {
    "api-key": "The API key is unknown, expired or revoked. Check that it was sent whole; if it was, make a new one.",
    "bearer": "The access token is unknown, expired or revoked. Refresh it, or authorize again.",
    "session": "The browser's session is unknown or has ended. Sign in again.",
}


def not_valid(scheme: str, credential: str) -> Unauthenticated:
    """Say what is wrong with a credential that nobody is known by, and where another of its kind comes from."""
    message = _NOT_VALID.get(scheme, f"The Authorization header is of an unknown scheme. Send {HOW_TO_SEND}.")
    if scheme == "bearer" and looks_like_api_key(credential):
        message = "This is no access token but looks like an API key: send it as `Authorization: API-Key <key>`."
    return Unauthenticated(message, presented=True)


def insufficient(operation: Operation[Any, Any], principal: Principal) -> InsufficientScope:
    """Say which scope is lacking; an OAuth client is told of all that it should have then."""
    granted = frozenset(scope.value for scope in principal.scopes) if principal.kind is CredentialKind.OAUTH else None
    lacking = tuple(scope.value for scope in operation.lacking(principal.scopes))
    return InsufficientScope(lacking, granted=granted, every=operation.every_scope)


def accepts(operation: Operation[Any, Any], principal: Principal) -> bool:
    """Tell whether an operation for certain credentials takes this one; a token must not have been narrowed."""
    if principal.kind not in operation.credentials:
        return False
    return principal.kind is not CredentialKind.OAUTH or principal.is_unrestricted


def not_accepted(operation: Operation[Any, Any], principal: Principal) -> AppError:
    """Say who may do it; the client of a token that would do with more scopes is told to ask for them."""
    if principal.kind not in operation.credentials:
        return SignInRequired()
    lacking = tuple(scope.value for scope in Scope if scope not in principal.scopes)
    return EveryScopeNeeded(lacking, frozenset(principal.scopes))


def without_plan(principal: Principal) -> AppError:
    """Say whether there is no plan, or none that can be read just now."""
    if principal.plan_unavailable:
        msg = "The plan of this workspace cannot be read just now; retry shortly."
        return EntitlementUnavailable(msg, retry_after=_PLAN_RETRY_SECONDS)
    return PlanRequired("This workspace has no active plan. Start a trial or choose a plan.")
