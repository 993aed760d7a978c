"""What a new password of an account must be."""

from __future__ import annotations

from app.gate.passwords import MAX_LENGTH
from app.kit.errors import InvalidRequest

MIN_LENGTH = 10


def check_new(password: str, email: str) -> None:
    """Judge a new password: its length, and that it is not simply the address.

    Raises:
        InvalidRequest: with what to change.
    """
    if not MIN_LENGTH <= len(password) <= MAX_LENGTH:
        raise InvalidRequest(f"Choose a password of {MIN_LENGTH} to {MAX_LENGTH} characters; a sentence is a good one.")
    bare = password.casefold()
    if bare in (email.casefold(), email.partition("@")[0].casefold()) or len(set(bare)) < 4:  # noqa: PLR2004
        raise InvalidRequest("This password is too easy to guess; choose another one.")
