"""Identifiers: UUIDv7 (RFC 9562 section 5.7), opaque strings to clients."""

from __future__ import annotations

import secrets
import time
from typing import Annotated
from uuid import UUID

from pydantic import BeforeValidator, WithJsonSchema

_VERSION = 0x7 << 76
_VARIANT = 0b10 << 62
_RANDOM_A = 0xFFF << 64
_RANDOM_B = (1 << 62) - 1


def new_id() -> UUID:
    """Make a time-ordered UUIDv7."""
    milliseconds = time.time_ns() // 1_000_000
    random = secrets.randbits(76)
    return UUID(int=(milliseconds << 80) | _VERSION | (random & _RANDOM_A) | _VARIANT | (random & _RANDOM_B))


NO_ID = UUID(int=0)


def parse_id(text: str) -> UUID | None:
    """Read an id; None when the text is none."""
    try:
        return UUID(text)
    except ValueError:
        return None


def _any_id(value: object) -> object:
    """Read an id; a text that is no UUID names nothing, so it becomes the id that nothing has (answer: 404)."""
    return (parse_id(value) or NO_ID) if isinstance(value, str) else value


Id = Annotated[UUID, BeforeValidator(_any_id), WithJsonSchema({"type": "string"})]
"""An opaque id: any text is accepted, and one that we never issued is simply not found."""
