"""What a text says of the hand that it is from, where that is not the reader's own."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import Field, computed_field

from app.kit.sanitize import hidden
from app.kit.schema import Model, absent


class Trust(StrEnum):
    """Whose words a text may hold, where not all of them are the reader's own."""

    MEMBER = "member"
    EXTERNAL = "external"


class Shown(Model):
    """A stored text as one caller reads it: exact, with whose it is and how much of it nobody sees.

    Both are left out where the caller alone wrote it by his own hand. `TEXT` names the field that holds the text.
    """

    TEXT: ClassVar[str] = "content"

    trust: Annotated[
        Trust | None,
        Field(
            default=None,
            exclude_if=absent,
            description="member: another member of the workspace had a hand in this text; external: it came from a web"
            " page, an uploaded file or an archive. Left out where the caller alone wrote it.",
        ),
    ]

    @computed_field(exclude_if=absent)
    def hidden_characters(self) -> int | None:
        """With `trust`: how many characters of the text a reader cannot see."""
        return None if self.trust is None else hidden(getattr(self, self.TEXT) or "")
