"""Arguments and results of coordination (contract: section 2.5)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from app.features.documents.schemas import DocumentId
from app.kit.guarded import IfMatch, Lease
from app.kit.schema import EpochMs, Model

MIN_SECONDS = 5
MAX_SECONDS = 3_600
DEFAULT_SECONDS = 60


class Policy(StrEnum):
    """How a document may be written."""

    STANDARD = "standard"
    LEASE_REQUIRED = "lease_required"


class Action(StrEnum):
    """What to do with the lease of a document."""

    ACQUIRE = "acquire"
    RENEW = "renew"
    RELEASE = "release"


class State(StrEnum):
    """What a lease is after the call."""

    ACTIVE = "active"
    RELEASED = "released"


class GetCoordination(Model):
    """Whose coordination."""

    document_id: DocumentId


class SetPolicy(Model):
    """The policy to set."""

    document_id: DocumentId
    if_match: IfMatch = None
    policy: Annotated[Literal[Policy.LEASE_REQUIRED], Field(description="`lease_required`; DELETE takes it back.")]


class ClearPolicy(Model):
    """Which document returns to standard mode."""

    document_id: DocumentId
    if_match: IfMatch = None


class ChangeLease(Lease):
    """What to do with the lease."""

    document_id: DocumentId
    action: Annotated[Action, Field(description="`acquire`; with the lease's id and fence: `renew` or `release`.")]
    ttl_seconds: Annotated[
        int | None,
        Field(
            default=None,
            ge=MIN_SECONDS,
            le=MAX_SECONDS,
            description=f"How long the lease lasts, {DEFAULT_SECONDS} unless given; a renewal keeps it.",
        ),
    ]


class LeaseView(Model):
    """A live lease, as everybody may see it: never its id."""

    held: Literal[True] = True
    held_by_caller: bool
    fence: int
    acquired_at: EpochMs
    expires_at: EpochMs


class Coordination(Model):
    """A document's policy and its live lease."""

    document_id: UUID
    policy: Policy
    revision: int
    lease: LeaseView | None
    tag: Annotated[str, Field(exclude=True)]

    @property
    def etag(self) -> str:
        """The strong entity tag of this state of coordination."""
        return f'"{self.tag}"'


class HeldLease(Model):
    """The lease as its holder knows it: the id and the fence go with each write."""

    lease_id: str
    fence: int
    ttl_seconds: int
    expires_at: EpochMs
    state: State
