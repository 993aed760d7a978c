"""What can be wrong when somebody signs in."""

from __future__ import annotations

from app.kit.errors import AppError, Kind, NotFound


class SessionNotFound(NotFound):
    """Ended, or another user's."""

    def __init__(self) -> None:
        super().__init__("This sign-in was not found. It may have ended already.")


class LinkUsedUp(AppError):
    """A one-time link that was used, has expired, or never was; the three answer alike."""

    kind = Kind.GONE
    reason = "GONE"

    def __init__(self) -> None:
        super().__init__(
            "This link does not work (any more): it is for one use and a limited time. If your password is set, sign "
            "in with it; otherwise whoever runs the service makes a new link: ctx admin sign-in-link --email ADDRESS."
        )


class AddressTaken(AppError):
    """Whoever holds the link's address has an account by now."""

    kind = Kind.CONFLICT
    reason = "ADDRESS_TAKEN"

    def __init__(self) -> None:
        super().__init__("There is an account with this address already; sign in to it.")
