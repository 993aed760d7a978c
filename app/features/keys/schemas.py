"""Arguments and results of the operations on API keys."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from app.gate.policy import Scope
from app.kit.ids import Id
from app.kit.paging import After, PageSize
from app.kit.schema import Instant, Model, PlainName, as_list

MAX_OVERLAP_SECONDS = 24 * 3600
DEFAULT_OVERLAP_SECONDS = 3600
MAX_COLLECTIONS = 50

KeyId = Annotated[Id, Field(description="The key's id.")]


def _ordered(scopes: list[Scope]) -> list[Scope]:
    return sorted(set(scopes))


def _distinct(ids: list[UUID]) -> list[UUID]:
    return sorted(set(ids))


Scopes = Annotated[list[Scope], BeforeValidator(as_list), AfterValidator(_ordered), Field(min_length=1, max_length=20)]


Collections = Annotated[
    list[Id], BeforeValidator(as_list), AfterValidator(_distinct), Field(min_length=1, max_length=MAX_COLLECTIONS)
]


class ListKeys(Model):
    """How many of the caller's own keys of the current workspace, and after which."""

    limit: PageSize
    cursor: After


class CreateKey(Model):
    """A new key."""

    name: Annotated[PlainName, Field(description="What the key is for.")]
    scopes: Annotated[
        Scopes, Field(description="What the key may do; write implies read. Taken as `permissions`, too.")
    ]
    expires_at: Annotated[
        Instant | None, Field(default=None, description="When it ends by itself; without one, never.")
    ]
    collection_ids: Annotated[
        Collections | None,
        Field(default=None, description="Collections whose members are all that the key sees; without, everything."),
    ]

    @model_validator(mode="before")
    @classmethod
    def _named_as_in_a_profile(cls, sent: Any) -> Any:
        """Take `permissions` for `scopes`: the profile names them so."""
        if not isinstance(sent, dict) or "scopes" in sent or "permissions" not in sent:
            return sent
        return {("scopes" if name == "permissions" else name): value for name, value in sent.items()}


class RotateKey(Model):
    """Which key gets a new secret, and how long the old one still works."""

    key_id: KeyId
    overlap_seconds: Annotated[
        int,
        Field(
            default=DEFAULT_OVERLAP_SECONDS,
            ge=0,
            le=MAX_OVERLAP_SECONDS,
            description="How long the old secret keeps working; at most a day.",
        ),
    ]


class RevokeKey(Model):
    """Which key to end."""

    key_id: KeyId


class Key(Model):
    """An API key without its secret."""

    id: UUID
    name: str
    public_id: Annotated[str, Field(description="The part of the key's text by which it can be recognised.")]
    scopes: list[str]
    collection_ids: Annotated[list[UUID] | None, Field(description="What it is restricted to; null: to nothing.")]
    created_at: datetime
    expires_at: datetime | None
    replaced_at: Annotated[datetime | None, Field(description="When it was rotated; it ends at `expiresAt`.")]
    last_used_at: Annotated[datetime | None, Field(description="Known to about ten seconds.")]
    last_used_by: Annotated[str | None, Field(description="What the program that used it calls itself.")]


class CreatedKey(Key):
    """A fresh key with its text, which is shown this once."""

    key: str
