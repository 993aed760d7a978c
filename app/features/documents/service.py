"""Rules of documents that other features may call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.features.documents import queries
from app.features.documents.errors import DocumentNotFound
from app.features.documents.schemas import Document
from app.store.jobs import Job

if TYPE_CHECKING:
    from uuid import UUID

    from app.gate.operation import Context
    from app.store.tx import Tx

INDEX_JOB: Final = "index_workspace"
"""Brings the search index of one workspace up to date."""


def index_job(workspace_id: UUID) -> Job:
    """Ask for the index of a workspace to be brought up to date; asking twice costs little and loses nothing."""
    return Job(INDEX_JOB, {"workspace": str(workspace_id)}, merges=True)


async def read_document(ctx: Context, document_id: UUID) -> Document:
    """Read a document in one hot call.

    Raises:
        DocumentNotFound: absent, in the trash, or another workspace's.
    """
    row = await ctx.hot(queries.GET, document_id)
    if row is None:
        raise DocumentNotFound
    return Document.model_validate(dict(row), by_name=True)


async def document_exists(tx: Tx, document_id: UUID) -> bool:
    """Tell whether a document is there, not in the trash, and in the caller's reach."""
    return await queries.document_exists(tx, document_id)
