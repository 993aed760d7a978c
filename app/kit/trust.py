"""What a text says of the hand that it is from, where that is not the reader's own."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, computed_field

from app.kit.sanitize import hidden
from app.kit.schema import Model, absent


class Trust(StrEnum):
    """Whose words a text may hold, where not all of them are the reader's own."""

    MEMBER = "member"
    EXTERNAL = "external"


class Shown(Model):
    """Stored text as one caller reads it: exact, with whose it is and how much of it nobody sees.

    Both are left out where the caller alone wrote it by his own hand.
    """

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
        """With `trust`: how many characters of these texts a reader cannot see; names, titles and notes count too."""
        return None if self.trust is None else hidden_in(list(self.__dict__.values()))


def hidden_in(value: object) -> int:
    """Count the hidden characters of all texts in a value, as often as they stand there.

    What tells of its own texts, a `Shown` in it, is not counted.
    """
    count, parts = 0, [value]
    while parts:
        part = parts.pop()
        if isinstance(part, str):
            count += hidden(part)
        elif isinstance(part, dict):
            parts += [*part.keys(), *part.values()]
        elif isinstance(part, list):
            parts += part
        elif isinstance(part, Model) and not isinstance(part, Shown):
            parts += part.__dict__.values()
    return count


def farthest(*trusts: str | None) -> Trust | None:
    """Tell what holds for several texts together: that from outside before another member's."""
    return next((trust for trust in (Trust.EXTERNAL, Trust.MEMBER) if trust in trusts), None)


def whose(provenance: str, *trusts: Trust | None) -> str:
    """Add to where texts come from whose words may be in them."""
    trust = farthest(*trusts)
    return provenance if trust is None else f"{provenance} {_SAID[trust]}"


_SAID = {
    Trust.MEMBER: "Words of another member may be in it.",
    Trust.EXTERNAL: "Words from outside the workspace may be in it.",
}
