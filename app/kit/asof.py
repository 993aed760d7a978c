"""A point in the history of something with revisions: a revision's number, or a time."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

from pydantic import AfterValidator, BeforeValidator, Field

from app.kit.schema import in_utc

TIME: Final = "a time (RFC 3339, or epoch milliseconds)"
"""What a point may be beside a revision, for the descriptions of arguments."""

_A_TIME: Final = "a time with its zone, such as 2026-05-01T00:00:00Z"
_NUMBER = re.compile(r"[0-9]{1,16}", re.ASCII)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_TIME: Final = 10**11
"""Numbers from here on are epoch milliseconds (March 1973); no revision counts that far."""


def point(value: str) -> int | datetime:
    """Read a revision number, epoch milliseconds, or an RFC 3339 time.

    Raises:
        ValueError: it is none of them; the message says what is.
    """
    found = _read(value)
    if found is None:
        msg = f"must be a revision number (1 or more) or {_A_TIME}"
        raise ValueError(msg)
    return found


def _read(value: str) -> int | datetime | None:
    text = value.strip()
    try:
        found = _number(int(text)) if _NUMBER.fullmatch(text) else datetime.fromisoformat(text)
    except (ValueError, OverflowError, OSError):
        return None
    if isinstance(found, datetime):
        return None if found.tzinfo is None else in_utc(found)
    return found or None


def _number(number: int) -> int | datetime:
    """Read a large number as the end of that millisecond: times are cut to it when they are shown as numbers."""
    return number if number < _FIRST_TIME else _EPOCH + timedelta(milliseconds=number, microseconds=999)


def _text(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _checked(value: str) -> str:
    point(value)
    return value


def moment(value: str) -> datetime:
    """Read a time, for what is about many things at once: each counts its own revisions.

    Raises:
        ValueError: it is none; of a revision number the message says why.
    """
    found = _read(value)
    if isinstance(found, datetime):
        return found
    msg = f"must be {_A_TIME}" + ("" if found is None else "; a revision number counts for one item alone")
    raise ValueError(msg)


def _timed(value: str) -> str:
    moment(value)
    return value


_Text = Annotated[str, Field(max_length=40), BeforeValidator(_text)]

AsOf = Annotated[_Text, AfterValidator(_checked)]
"""A revision number or a time, as text, which `point` reads; as of a time, the last revision by then counts."""

AsOfTime = Annotated[_Text, AfterValidator(_timed)]
"""A time, as text, which `moment` reads."""
