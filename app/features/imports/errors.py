"""What can be wrong with a request about an import."""

from __future__ import annotations

from app.kit.errors import AppError, Kind, NotFound


class ImportNotFound(NotFound):
    """Absent, or another workspace's."""

    def __init__(self) -> None:
        super().__init__("Import not found. Start one with POST /v1/imports.")


class ImportFinished(AppError):
    """Nothing can be added to a finished import."""

    kind = Kind.CONFLICT
    reason = "IMPORT_FINISHED"

    def __init__(self) -> None:
        super().__init__("This import is finished; start another with POST /v1/imports.")


class ImportEmpty(AppError):
    """An import that took nothing has nothing to finish."""

    kind = Kind.CONFLICT
    reason = "IMPORT_EMPTY"

    def __init__(self) -> None:
        super().__init__("This import took no chunk, so there is nothing to finish; send its first chunk.")


class ChunkDiffers(AppError):
    """A chunk of this number was taken with other entries."""

    kind = Kind.CONFLICT
    reason = "CHUNK_DIFFERS"

    def __init__(self) -> None:
        super().__init__("A chunk of this number was taken before, with other entries; go on with the next number.")


class ArchiveUnreadable(AppError):
    """The file is no archive, is damaged, or is too large for this way in."""

    kind = Kind.UNPROCESSABLE
    reason = "ARCHIVE_UNREADABLE"

    def __init__(self, why: str) -> None:
        super().__init__(f"The file cannot be imported: {why}.")
