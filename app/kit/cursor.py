"""Opaque list cursors: base64 of a small JSON, as the contract's fixtures show."""

from __future__ import annotations

import base64
import binascii
from datetime import datetime
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from app.kit.errors import InvalidRequest
from app.kit.schema import Instant, unstorable

_TEXT: TypeAdapter[list[str]] = TypeAdapter(list[str])
_PAIR: TypeAdapter[tuple[datetime, UUID]] = TypeAdapter(tuple[Instant, UUID])
_ORDERED: TypeAdapter[tuple[str, datetime, UUID]] = TypeAdapter(tuple[str, Instant, UUID])


def encode(at: datetime, item_id: UUID, order: str = "") -> str:
    """Write the cursor that continues after an item in (time, id) descending order; one but creation's has a name."""
    found = _ORDERED.dump_json((order, at, item_id)) if order else _PAIR.dump_json((at, item_id))
    return base64.urlsafe_b64encode(found).decode()


def decode(cursor: str, order: str = "") -> tuple[datetime, UUID]:
    """Read a cursor back.

    Raises:
        InvalidRequest: the text is no cursor of ours, or one of another order.
    """
    try:
        text = base64.urlsafe_b64decode(cursor.encode())
        if not order:
            return _PAIR.validate_json(text)
        named, at, item_id = _ORDERED.validate_json(text)
    except (binascii.Error, ValueError, ValidationError) as error:
        raise _foreign() from error
    if named != order:
        raise _foreign()
    return at, item_id


def encode_text(value: str) -> str:
    """Write the cursor that continues after a text."""
    return base64.urlsafe_b64encode(_TEXT.dump_json([value])).decode()


def decode_text(cursor: str) -> str:
    """Read a cursor of `encode_text` back.

    Raises:
        InvalidRequest: the text is no cursor of ours.
    """
    try:
        (value,) = _TEXT.validate_json(base64.urlsafe_b64decode(cursor.encode()))
    except (binascii.Error, ValueError, ValidationError) as error:
        raise _foreign() from error
    if unstorable(value) is not None:
        raise _foreign()
    return value


def _foreign() -> InvalidRequest:
    msg = "The cursor is not one of ours; start again without it."
    return InvalidRequest(msg, details=[{"field": "cursor", "message": msg}])
