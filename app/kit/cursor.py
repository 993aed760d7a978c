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


def encode(created_at: datetime, item_id: UUID) -> str:
    """Write the cursor that continues after an item in (created, id) descending order."""
    return base64.urlsafe_b64encode(_PAIR.dump_json((created_at, item_id))).decode()


def decode(cursor: str) -> tuple[datetime, UUID]:
    """Read a cursor back.

    Raises:
        InvalidRequest: the text is no cursor of ours.
    """
    try:
        return _PAIR.validate_json(base64.urlsafe_b64decode(cursor.encode()))
    except (binascii.Error, ValueError, ValidationError) as error:
        raise _foreign() from error


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
