"""What can be wrong with a request about the trash."""

from __future__ import annotations

from app.kit.errors import NotFound


class TrashedItemNotFound(NotFound):
    """Not in the trash: never deleted, restored or purged since, another workspace's, or out of the caller's reach."""

    def __init__(self) -> None:
        super().__init__("Item not found in the trash. List the trash to find its id.")
