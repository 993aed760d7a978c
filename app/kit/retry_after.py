"""The header `Retry-After` (RFC 9110, 10.2.3), as callers of other services read it."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def retry_after(headers: Mapping[str, str]) -> float:
    """Read how many seconds a server asks to be left alone; 0 where it says nothing that is known."""
    said = headers.get("retry-after", "").strip()
    try:
        found = float(said) if said.isdecimal() else (parsedate_to_datetime(said) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return max(found, 0.0)
