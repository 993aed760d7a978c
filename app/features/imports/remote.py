"""Reads archives in a confined process; never within a transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.features.imports.errors import ArchiveUnreadable
from app.store.confined import Limits
from app.store.readers import Unreadable

if TYPE_CHECKING:
    from uuid import UUID

    from app.store.confined import Confined

_MIB = 1024 * 1024
MAX_BYTES: Final = 64 * _MIB
LIMITS: Final = Limits(answer_bytes=4 * MAX_BYTES)
_READER = "app.features.imports.reading:read"


class Archives:
    """Takes archives apart."""

    def __init__(self, confined: Confined) -> None:
        self._confined = confined

    async def chunks(self, workspace_id: UUID, body: bytes) -> list[list[dict[str, str]]]:
        """Read an archive of a workspace's member into the chunks of an import.

        Raises:
            ArchiveUnreadable: it is none, it is damaged, or too large.
        """
        try:
            found = await self._confined.call(workspace_id, _READER, {"most": MAX_BYTES}, body)
        except Unreadable as error:
            raise ArchiveUnreadable(str(error)) from None
        chunks: list[list[dict[str, str]]] = found["chunks"]
        return chunks
