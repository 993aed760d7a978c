"""Rules of documents that other features may call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.features.documents import queries
from app.features.documents.errors import DocumentNotFound
from app.features.documents.schemas import Document

if TYPE_CHECKING:
    from uuid import UUID

    from app.gate.operation import Context


async def read_document(ctx: Context, document_id: UUID) -> Document:
    """Read a document in one hot call.

    Raises:
        DocumentNotFound: absent, in the trash, or another workspace's.
    """
    row = await ctx.hot(queries.GET, document_id)
    if row is None:
        raise DocumentNotFound
    return Document.model_validate(dict(row), by_name=True)
