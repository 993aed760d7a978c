"""What can be wrong with a citation."""

from __future__ import annotations

from app.kit.errors import Gone, NotFound


class CitationNotFound(NotFound):
    """No citation of ours, or its document is absent, in the trash, or out of the caller's reach."""

    def __init__(self) -> None:
        super().__init__("Citation not found. Ids of citations come from reason; its document may be in the trash.")


class CitationGone(Gone):
    """The document was purged, or the cited revision was never kept."""

    def __init__(self) -> None:
        super().__init__("The cited text is gone for good: its document was purged, or its revision was not kept.")
