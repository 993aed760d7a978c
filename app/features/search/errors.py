"""What can be wrong with a request to search or fetch."""

from __future__ import annotations

from app.kit.errors import NotFound


class ItemNotFound(NotFound):
    """No item has the id that was asked for."""

    def __init__(self) -> None:
        super().__init__("Item not found. Ids are document_<id>, prompt_<id> or collection_<id>, as search gives them.")
