"""SQL of uploads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.store import blobs

if TYPE_CHECKING:
    from uuid import UUID

    import asyncpg

    from app.features.uploads.schemas import UploadedFile
    from app.store.tx import Tx

_PUT_FILE = """
INSERT INTO document_files (workspace_id, document_id, digest, name, media_type, created_at)
VALUES ($1, $2, $3, $4, $5, clock_timestamp())
"""

_GET = """
SELECT f.name, f.media_type, encode(f.digest, 'hex') AS digest, b.content
  FROM document_files f
  JOIN documents d ON d.workspace_id = f.workspace_id AND d.id = f.document_id AND d.deleted_at IS NULL
  JOIN blobs b ON b.workspace_id = f.workspace_id AND b.digest = f.digest
 WHERE f.workspace_id = $1 AND f.document_id = $2
"""

_FORGET = "DELETE FROM document_files WHERE workspace_id = $1 AND document_id = $2 RETURNING digest"


async def put_original(tx: Tx, document_id: UUID, file: UploadedFile) -> None:
    """Keep the file that a document was made from; the same bytes are kept once for a workspace."""
    digest = await blobs.put(tx, file.content)
    await tx.execute(_PUT_FILE, tx.workspace_id, document_id, digest, file.name, file.media_type)


async def get_original(tx: Tx, document_id: UUID) -> asyncpg.Record | None:
    """Read the file that a document was made from."""
    return await tx.fetchrow(_GET, tx.workspace_id, document_id)


async def forget(tx: Tx, document_id: UUID) -> int:
    """Forget the file of a document, and its bytes unless another document came from them; returns how many went."""
    digest = await tx.fetchval(_FORGET, tx.workspace_id, document_id)
    if digest is None:
        return 0
    return await blobs.drop(tx, [digest])
