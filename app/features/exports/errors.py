"""What can be wrong with a request about an export."""

from __future__ import annotations

from app.kit.errors import AppError, Gone, Kind, NotFound


class ExportNotFound(NotFound):
    """Absent, or another workspace's."""

    def __init__(self) -> None:
        super().__init__("Export not found. Start one with POST /v1/exports.")


class ExportGone(Gone):
    """Its archive was removed when its time was over."""

    def __init__(self) -> None:
        super().__init__("The archive of this export is not kept any more; start another with POST /v1/exports.")


class ExportRunning(AppError):
    """The archive is not complete yet."""

    kind = Kind.CONFLICT
    reason = "EXPORT_RUNNING"

    def __init__(self) -> None:
        super().__init__(
            "The archive is not complete yet; look with GET /v1/exports/{id} until it is ready.", retry_after=1
        )
