"""Writes that may name the revision they are based on, as `If-Match` or as `expectedRevision` (contract: 2.3)."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from app.kit import revision as revisions
from app.kit.errors import PreconditionConflict
from app.kit.revision import Precondition
from app.kit.schema import FromHeader, Model, Positive

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
