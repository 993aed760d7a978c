"""Refusals of people whom the issuer knows."""

from __future__ import annotations

from typing import ClassVar

from app.kit.errors import AppError, Kind


class NoAccount(AppError):
    """The token is good, but nobody here is who it names."""

    kind = Kind.FORBIDDEN
    reason: ClassVar[str] = "NO_ACCOUNT"

    def __init__(self) -> None:
        super().__init__(
            "You are signed in, but have no account here. Ask the administrator to create one for your e-mail address."
        )
