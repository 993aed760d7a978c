"""Bytes of a workspace by their digest: written once, shared by whoever refers to them.

Whoever keeps a digest refers to the blob by a foreign key, so that none goes that is still needed.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, Column, LargeBinary, Table, Uuid

from app.store.base import metadata

if TYPE_CHECKING:
    from app.store.tx import Tx

blobs = Table(
    "blobs",
    metadata,
    Column("workspace_id", Uuid, primary_key=True),
    Column("digest", LargeBinary, primary_key=True),
    Column("size", BigInteger, nullable=False),
    Column("content", LargeBinary, nullable=False),
)

_PUT = "INSERT INTO blobs (workspace_id, digest, size, content) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING"

_GET = "SELECT content FROM blobs WHERE workspace_id = $1 AND digest = $2"


async def put(tx: Tx, content: bytes) -> bytes:
    """Keep bytes; gives their SHA-256, by which they are found."""
    digest = hashlib.sha256(content).digest()
    await tx.execute(_PUT, tx.workspace_id, digest, len(content), content)
    return digest


async def get(tx: Tx, digest: bytes) -> bytes | None:
    """Read the bytes of a digest; None when the workspace keeps none."""
    content: bytes | None = await tx.fetchval(_GET, tx.workspace_id, digest)
    return content
