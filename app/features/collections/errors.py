"""What can be wrong with a request about a collection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.kit.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID


class CollectionNotFound(NotFound):
    """Absent, deleted, another workspace's, or not among those that the key is restricted to."""

    def __init__(self) -> None:
        super().__init__("Collection not found. List collections to find its id.")


class ItemsNotFound(NotFound):
    """Some of the items to add are absent, so that none was added; `details.missing` names them."""

    def __init__(self, missing: Sequence[UUID]) -> None:
        ids = [str(item) for item in missing]
        super().__init__(
            f"{len(ids)} of the items were not found, so that none was added. List or search items to find their ids.",
            details={"missing": ids},
        )
