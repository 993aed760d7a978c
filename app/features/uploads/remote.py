"""Reads files in a confined process; never within a transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.features.uploads.errors import FileTypeUnsupported, FileUnreadable
from app.features.uploads.schemas import Converted
from app.kit.kinds import kind_of
from app.kit.schema import storable
from app.store.readers import Unreadable

if TYPE_CHECKING:
    from uuid import UUID

    from app.features.uploads.schemas import UploadedFile
    from app.store.confined import Confined

_READER = "app.features.uploads.converting:convert"


class Converter:
    """Writes files as Markdown."""

    def __init__(self, confined: Confined) -> None:
        self._confined = confined

    async def convert(self, workspace_id: UUID, file: UploadedFile) -> Converted:
        """Read a file of a workspace.

        Raises:
            FileTypeUnsupported, FileUnreadable.
        """
        kind = kind_of(file.name, file.media_type)
        if kind is None:
            raise FileTypeUnsupported(file.name)
        try:
            found = await self._confined.call(workspace_id, _READER, {"kind": kind}, file.content)
        except Unreadable as error:
            raise FileUnreadable(str(error), error.step) from None
        clean = {name: storable(value) for name, value in found.items() if value is not None}
        return Converted.model_validate(clean)
