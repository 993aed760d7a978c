"""SQL of uploads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.store.tx import count_of

if TYPE_CHECKING:
    from uuid import UUID

    import asyncpg

    from app.features.uploads.schemas import UploadedFile
    from app.store.tx import Tx

# The update changes nothing but locks the row: a purge that takes the same file away waits, or is waited for.
_PUT_BLOB = """
INSERT INTO blobs (workspace_id, digest, body) VALUES ($1, $2, $3)
ON CONFLICT (workspace_id, digest) DO UPDATE SET digest = excluded.digest
"""
_PUT_FILE = """
INSERT INTO document_files (workspace_id, document_id, digest, name, media_type, created_at)
VALUES ($1, $2, $3, $4, $5, clock_timestamp())
"""

_GET = """
SELECT f.name, f.media_type, encode(f.digest, 'hex') AS digest, b.body
  FROM document_files f
  JOIN documents d ON d.workspace_id = f.workspace_id AND d.id = f.document_id AND d.deleted_at IS NULL
  JOIN blobs b ON b.workspace_id = f.workspace_id AND b.digest = f.digest
 WHERE f.workspace_id = $1 AND f.document_id = $2
"""

_FORGET = "DELETE FROM document_files WHERE workspace_id = $1 AND document_id = $2 RETURNING digest"

_FORGET_BLOB = """
DELETE FROM blobs b WHERE b.workspace_id = $1 AND b.digest = $2
   AND NOT EXISTS (SELECT FROM document_files f WHERE f.workspace_id = $1 AND f.digest = $2)
"""
_LOCK_BLOB = "SELECT FROM blobs WHERE workspace_id = $1 AND digest = $2 FOR UPDATE"


async def put_original(tx: Tx, document_id: UUID, file: UploadedFile) -> None:
    """Keep the file that a document was made from; the same bytes are kept once for a workspace."""
    digest = bytes.fromhex(file.digest)
    await tx.execute(_PUT_BLOB, tx.workspace_id, digest, file.content)
    await tx.execute(_PUT_FILE, tx.workspace_id, document_id, digest, file.name, file.media_type)


async def get_original(tx: Tx, document_id: UUID) -> asyncpg.Record | None:
    """Read the file that a document was made from."""
    return await tx.fetchrow(_GET, tx.workspace_id, document_id)


async def forget(tx: Tx, document_id: UUID) -> int:
    """Forget the file of a document, and its bytes unless another document came from them; returns how many went."""
    digest = await tx.fetchval(_FORGET, tx.workspace_id, document_id)
    if digest is None:
        return 0
    await tx.fetchrow(_LOCK_BLOB, tx.workspace_id, digest)
    return count_of(await tx.execute(_FORGET_BLOB, tx.workspace_id, digest))
