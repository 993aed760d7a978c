"""What can be wrong with a request about a document."""

from __future__ import annotations

from app.kit.errors import NotFound


class DocumentNotFound(NotFound):
    """Absent, deleted, or another workspace's."""

    def __init__(self) -> None:
        super().__init__("Document not found. List or search documents to find its id.")


class VersionNotFound(NotFound):
    """The document has no such version."""

    def __init__(self) -> None:
        super().__init__("Version not found. List the document's versions to find its id.")
