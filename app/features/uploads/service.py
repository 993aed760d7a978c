"""What other features need of uploads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.features.uploads import queries

if TYPE_CHECKING:
    from uuid import UUID

    from app.features.uploads.schemas import UploadedFile
    from app.store.tx import Tx


async def keep_original(tx: Tx, document_id: UUID, file: UploadedFile) -> None:
    """Keep the file that a document was made from."""
    await queries.put_original(tx, document_id, file)
