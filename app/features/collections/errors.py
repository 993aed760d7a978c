"""What can be wrong with a request about a collection."""

from __future__ import annotations

from app.kit.errors import NotFound


class CollectionNotFound(NotFound):
    """Absent, deleted, another workspace's, or not among those that the key is restricted to."""

    def __init__(self) -> None:
        super().__init__("Collection not found. List collections to find its id.")


class ItemsNotFound(NotFound):
    """Some of the items to add are absent, so that none was added; `details.missing` names them as they were sent."""

    def __init__(self, missing: list[str]) -> None:
        count = len(missing)
        super().__init__(
            f"{count} of the items were not found, so that none was added. List or search items to find their ids.",
            details={"missing": missing},
        )


class ItemNotFound(NotFound):
    """The item whose collections are asked for is absent, in the trash, or out of the caller's reach."""

    def __init__(self) -> None:
        super().__init__("Item not found. List or search items to find its id.")
