"""What can be wrong with a request about a passage."""

from __future__ import annotations

from app.kit.errors import NotFound


class ChunkNotFound(NotFound):
    """No chunk has this id, or it is out of the caller's reach, or nothing took its place when its text was edited."""

    def __init__(self) -> None:
        super().__init__(
            "Chunk not found. The document may have been rewritten: run deep_search again for current ids."
        )
