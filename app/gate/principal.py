"""Who is calling."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from app.gate.policy import Plan, Role, Scope


class CredentialKind(StrEnum):
    """How the caller proved who it is; `authMethod` on the wire."""

    API_KEY = "api_key"
    OAUTH = "oauth"
    SESSION = "session"


@dataclass(frozen=True, slots=True)
class Principal:
    """A resolved caller: user, workspace, grant and rights.

    `grant_id` survives key rotation and token refresh; receipts are keyed by it. `credential_id` is the one credential
    that was shown, for its marks. `plan` is None without an active plan, and also when it cannot be read just now
    (`plan_unavailable`). `scopes` are the credential's, widened by implication and cut to the role.
    """

    user_id: UUID
    user_name: str
    workspace_id: UUID
    role: Role
    kind: CredentialKind
    grant_id: UUID
    scopes: frozenset[Scope]
    plan: Plan | None
    agent: str | None = None
    plan_unavailable: bool = False
    credential_id: UUID | None = None
    collections: tuple[UUID, ...] | None = None
    """The collections whose members are all that the caller can see and change; None: no such limit."""
    is_unrestricted: bool = False
    """Whether the credential was given every scope there is, whatever of it the role allows here."""
