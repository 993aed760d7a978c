"""Arguments and results of exports."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import datetime
from enum import StrEnum
from typing import Annotated, ClassVar
from uuid import UUID

from pydantic import Field, PrivateAttr

from app.kit.ids import Id
from app.kit.schema import Model

ExportId = Annotated[Id, Field(description="The export's id.")]


class StartExport(Model):
    """No arguments: everything is exported."""


class ReadExport(Model):
    """Which export."""

    export_id: ExportId


class ExportState(StrEnum):
    """How far an export is."""

    RUNNING = "running"
    READY = "ready"
    GONE = "gone"


class Export(Model):
    """An export: documents as they were at `watermark`, with all that was written until then."""

    id: UUID
    state: ExportState
    watermark: datetime
    items_done: int
    items_total: Annotated[int, Field(description="What is to be done, as counted at the beginning.")]
    created_at: datetime
    finished_at: datetime | None
    expires_at: Annotated[datetime, Field(description="When the archive is removed.")]


class Archive(Model):
    """The archive's bytes, which are read while they are sent."""

    media_type: ClassVar[str] = "application/gzip"

    filename: str
    _chunks: Callable[[], AsyncIterator[bytes]] = PrivateAttr()

    @property
    def chunks(self) -> AsyncIterator[bytes]:
        """Read the archive piece by piece."""
        return self._chunks()

    def to_json(self) -> bytes:
        """Give nothing: the body is the archive."""
        return b""
