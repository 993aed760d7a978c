"""Writes that name the revision they are based on, and the lease they are done under (contract: 2.3, 2.5)."""

from __future__ import annotations

from typing import Annotated, Final, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from app.kit import revision as revisions
from app.kit.errors import PreconditionConflict
from app.kit.revision import Precondition
from app.kit.schema import FromHeader, Model, Positive, field_error
from app.kit.secrets import Token

_LEASE_ID: Final = "X-ContextRepo-Lease-Id"
_LEASE_FENCE: Final = "X-ContextRepo-Lease-Fence"
ExpectedRevision = Annotated[
    Positive | None, Field(description="The revision that the change is based on; refused when it is not current.")
]


def _readable(value: str | None) -> str | None:
    if value is not None and revisions.parse_if_match(value) is None:
        msg = 'must be * or a list of quoted entity tags, such as "r3-0123456789abcdef"'
        raise ValueError(msg)
    return value


IfMatch = Annotated[
    str | None,
    FromHeader("If-Match"),
    AfterValidator(_readable),
    Field(alias="If-Match", description="Entity tags of the revision to change."),
]


class Guarded(Model):
    """A write that may name the revision it is based on, as `If-Match` or as `expectedRevision`."""

    if_match: IfMatch = None
    expected_revision: Annotated[ExpectedRevision, Field(default=None)]

    @property
    def precondition(self) -> Precondition | None:
        """What the caller expects; None when it expects nothing.

        Raises:
            PreconditionConflict: both forms were sent and name different revisions. (Tags that can match nothing, weak
                or foreign ones, name none: they fail as a mismatch.)
        """
        tags = revisions.parse_if_match(self.if_match) if self.if_match is not None else None
        if tags is None or tags.any:
            if self.expected_revision is None:
                return None
            return Precondition("body", (self.expected_revision,), ("",))
        pairs = tags.tags
        if self.expected_revision is not None and pairs:
            pairs = tuple(pair for pair in pairs if pair[0] == self.expected_revision)
            if not pairs:
                msg = "If-Match and expectedRevision name different revisions; send one of them, or the same in both."
                raise PreconditionConflict(msg)
        return Precondition("header", tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs))


def _plain(value: object) -> object:
    if isinstance(value, str) and not (value.isascii() and value.isdigit()):
        msg = "must be an integer in plain digits, as the lease said it"
        raise ValueError(msg)
    return value


Fence = Annotated[Positive, BeforeValidator(_plain)]
"""The fence of a lease; of texts, which a header always is, only digits are one."""


class Lease(Model):
    """The lease that a write of a managed document shows: its id and its fence, both or neither."""

    lease_id: Annotated[
        str | None,
        FromHeader(_LEASE_ID),
        Field(default=None, alias=_LEASE_ID, max_length=200, description="The id of the lease held."),
    ]
    lease_fence: Annotated[
        Fence | None,
        FromHeader(_LEASE_FENCE),
        Field(default=None, alias=_LEASE_FENCE, description="The fence of the lease held."),
    ]

    @model_validator(mode="after")
    def _both(self) -> Self:
        if (self.lease_id is None) != (self.lease_fence is None):
            lacking = _LEASE_ID if self.lease_id is None else _LEASE_FENCE
            raise field_error(lacking, "required: the id of a lease and its fence belong together; send both headers")
        return self

    @property
    def lease_digest(self) -> bytes | None:
        """The lease's id as it is stored; None when no lease is shown."""
        return None if self.lease_id is None else Token(self.lease_id).digest()
