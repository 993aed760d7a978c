"""What can be wrong with a request about API keys."""

from __future__ import annotations

from app.kit.errors import AppError, Kind, NotFound


class KeyNotFound(NotFound):
    """Absent, revoked, or somebody else's."""

    def __init__(self) -> None:
        super().__init__("Key not found. List your keys of this workspace to find its id.")


class KeyEnded(AppError):
    """The key was rotated already, or has expired: only a key that is current can be rotated."""

    kind = Kind.CONFLICT
    reason = "KEY_ENDED"

    def __init__(self) -> None:
        super().__init__("This key was rotated already or has expired; rotate the current one, or create a new key.")
