"""What can be wrong with a file."""

from __future__ import annotations

from app.kit.errors import AppError, Kind, NotFound

KINDS = "PDF, DOCX, PPTX, XLSX, ODT, ODS, RTF, EPUB, HTML, CSV, TSV, JSON, notebooks, mail (EML, MSG), text and code"

_STEP = "Save it anew or in another format, or send its text with POST /v1/documents instead."


class FileTypeUnsupported(AppError):
    """No reader knows this kind of file."""

    kind = Kind.UNSUPPORTED_MEDIA_TYPE
    reason = "UNSUPPORTED_MEDIA_TYPE"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"Files like {name!r} cannot be read. These can: {KINDS}. Send the text with POST /v1/documents instead.",
            details=[{"field": "file", "message": "a kind of file that cannot be read"}],
        )


class FileUnreadable(AppError):
    """The file is damaged, too costly to read, or holds no text."""

    kind = Kind.INVALID
    reason = "INVALID_REQUEST"

    def __init__(self, why: str, step: str = "") -> None:
        super().__init__(
            f"The file cannot be read: {why}. {step or _STEP}", details=[{"field": "file", "message": why}]
        )


class OriginalNotFound(NotFound):
    """The document is absent, or was made from no file."""

    def __init__(self) -> None:
        super().__init__("Original not found. Only documents with sourceType `file` have one.")
