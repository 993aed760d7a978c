"""What can be wrong with a public link."""

from __future__ import annotations

from app.kit.errors import AppError, Kind, NotFound


class LinkNotFound(NotFound):
    """Absent, ended, or another workspace's."""

    def __init__(self) -> None:
        super().__init__("Link not found. List your links to find its id; an ended one is gone.")


class SharedItemNotFound(NotFound):
    """The item is absent, in the trash, or another workspace's."""

    def __init__(self) -> None:
        super().__init__("Nothing with this id can be shared. List documents or prompts to find its id.")


class AlreadyShared(AppError):
    """The item has a live link: there is one at a time."""

    kind = Kind.CONFLICT
    reason = "ALREADY_SHARED"

    def __init__(self) -> None:
        super().__init__("This has a public link already; end that one first to get another.")


class NothingShared(NotFound):
    """No live link has this address: whether it never was, has ended, or its item was deleted is nobody's to know."""

    def __init__(self) -> None:
        super().__init__("There is nothing at this address. Ask the person who gave it to you for another one.")
