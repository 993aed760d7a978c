"""Rows of the authorization server as the rest of it reads them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class ClientRow:
    """A client: `registered` dynamically, described by a `document` at its own address, or `static` (ours)."""

    client_id: str
    kind: str
    metadata: dict[str, Any]
    secret_hash: bytes | None = None
    registration_hash: bytes | None = None
    created_at: datetime | None = None
    fresh: bool = True


@dataclass(frozen=True, slots=True)
class Lineage:
    """What tokens descend from: the grant, the family of one exchange, and what they are bound to."""

    grant_id: UUID
    family_id: UUID
    client_id: str
    resource: str
    scopes: tuple[str, ...]
    user_id: UUID
    role: str
    used: bool = False
    live: bool = True
    redirect_uri: str = ""
    code_challenge: str = ""


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A token as introspection and revocation see it."""

    kind: str
    grant_id: UUID
    family_id: UUID
    client_id: str
    resource: str
    scopes: tuple[str, ...]
    user_id: UUID
    issued_at: int
    expires_at: int
    live: bool


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """A device's request for access."""

    user_code: str
    client_id: str
    client_name: str
    resource: str
    scopes: tuple[str, ...]
    expired: bool
    denied: bool
    used: bool
    grant_id: UUID | None
    too_soon: bool = False


@dataclass(frozen=True, slots=True)
class Approval:
    """What a person decided on the consent page."""

    user_id: UUID
    workspace_id: UUID
    scopes: tuple[str, ...]
    grant_id: UUID | None = None
    """An earlier grant that this authorization continues."""


@dataclass(frozen=True, slots=True)
class Consent:
    """A living grant that covers what a client asks for again."""

    grant_id: UUID
    workspace_id: UUID


@dataclass(frozen=True, slots=True)
class ConnectedApp:
    """A grant as its owner sees it."""

    id: UUID
    client_id: str
    client_name: str
    resource: str
    scopes: tuple[str, ...]
    workspace_name: str
    workspace_owner: str | None
    """Whose it is, if it is somebody else's personal one."""
    created_at: datetime
    last_used_at: datetime | None
