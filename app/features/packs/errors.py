"""What can be wrong with packs."""

from __future__ import annotations

from app.kit.errors import NotFound


class PackNotFound(NotFound):
    """No such pack, or a text of it is not there (any more)."""

    def __init__(self) -> None:
        super().__init__(
            "Pack not found: nothing has this hash, it was not asked for in 30 days, or a document of it was deleted. "
            "Make it again with GET /v1/pack."
        )
