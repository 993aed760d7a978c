"""Opaque list cursors: base64 of a small JSON, as the contract's fixtures show."""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime
from uuid import UUID

from pydantic import AwareDatetime, TypeAdapter, ValidationError

from app.kit.errors import InvalidRequest

_PAIR: TypeAdapter[tuple[datetime, UUID]] = TypeAdapter(tuple[AwareDatetime, UUID])


def encode(created_at: datetime, item_id: UUID) -> str:
    """Write the cursor that continues after an item in (created, id) descending order."""
    return base64.urlsafe_b64encode(_PAIR.dump_json((created_at, item_id))).decode()


def decode(cursor: str) -> tuple[datetime, UUID]:
    """Read a cursor back.

    Raises:
        InvalidRequest: the text is no cursor of ours.
    """
    try:
        created_at, item_id = _PAIR.validate_json(base64.urlsafe_b64decode(cursor.encode()))
        return created_at.astimezone(UTC), item_id
    except (binascii.Error, ValueError, OverflowError, ValidationError) as error:
        msg = "The cursor is not one of ours; start again without it."
        raise InvalidRequest(msg, details=[{"field": "cursor", "message": msg}]) from error
