"""Bytes of a workspace by their digest: written once, shared by whoever refers to them.

Whoever keeps a digest refers to the blob by a foreign key, so that none goes that is still needed.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, Column, LargeBinary, Table, Uuid

from app.store.base import metadata
from app.store.tx import count_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.store.tx import Tx

blobs = Table(
    "blobs",
    metadata,
    Column("workspace_id", Uuid, primary_key=True),
    Column("digest", LargeBinary, primary_key=True),
    Column("size", BigInteger, nullable=False),
    Column("content", LargeBinary, nullable=False),
)

# The update changes nothing but locks the row: who takes the same bytes away waits, or is waited for.
_PUT = """
INSERT INTO blobs (workspace_id, digest, size, content) VALUES ($1, $2, $3, $4)
ON CONFLICT (workspace_id, digest) DO UPDATE SET digest = excluded.digest
"""

_GET = "SELECT content FROM blobs WHERE workspace_id = $1 AND digest = $2"


_LOCK = "SELECT FROM blobs WHERE workspace_id = $1 AND digest = ANY ($2) ORDER BY digest FOR UPDATE"

_DROP = """
DELETE FROM blobs b
 WHERE b.workspace_id = $1 AND b.digest = ANY ($2)
   AND NOT EXISTS (SELECT FROM export_parts p WHERE p.workspace_id = $1 AND p.digest = b.digest)
   AND NOT EXISTS (SELECT FROM document_files f WHERE f.workspace_id = $1 AND f.digest = b.digest)
"""
"""Every table that refers to blobs is named here; its foreign key holds what would be forgotten."""


async def put(tx: Tx, content: bytes) -> bytes:
    """Keep bytes; gives their SHA-256, by which they are found."""
    digest = hashlib.sha256(content).digest()
    await tx.execute(_PUT, tx.workspace_id, digest, len(content), content)
    return digest


async def get(tx: Tx, digest: bytes) -> bytes | None:
    """Read the bytes of a digest; None when the workspace keeps none."""
    content: bytes | None = await tx.fetchval(_GET, tx.workspace_id, digest)
    return content


async def drop(tx: Tx, digests: Sequence[bytes]) -> int:
    """Remove the bytes of digests, unless something refers to them still; returns how many went."""
    await tx.execute(_LOCK, tx.workspace_id, digests)
    return count_of(await tx.execute(_DROP, tx.workspace_id, digests))
