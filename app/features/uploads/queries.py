"""SQL of uploads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.store import blobs

if TYPE_CHECKING:
    from uuid import UUID

    import asyncpg

    from app.features.uploads.schemas import UploadedFile
    from app.gate.operation import Call
    from app.store.postgres import Database
    from app.store.tx import Tx

_PUT_FILE = """
INSERT INTO document_files (workspace_id, document_id, digest, name, media_type, created_at)
VALUES ($1, $2, $3, $4, $5, clock_timestamp())
"""

_WAIT = """
UPDATE document_files SET state = 'waiting', titled = $3, call = $4 WHERE workspace_id = $1 AND document_id = $2
"""

# The index leaves a document alone whose claim never runs out: its text is still to come.
_AWAIT = """
UPDATE documents SET status = 'processing', status_reason = $3, index_claimed_until = 'infinity'
 WHERE workspace_id = $1 AND id = $2
"""

_WAITING = """
f.state = 'waiting' AND (f.claimed_until IS NULL OR f.claimed_until < clock_timestamp())
AND EXISTS (SELECT FROM documents d
             WHERE d.workspace_id = f.workspace_id AND d.id = f.document_id AND d.deleted_at IS NULL)
"""

_SWEEP = f"SELECT DISTINCT f.workspace_id FROM document_files f WHERE {_WAITING}"

_CLAIM = f"""
WITH chosen AS MATERIALIZED (
  SELECT f.document_id FROM document_files f
   WHERE f.workspace_id = $1 AND {_WAITING}
   ORDER BY f.created_at LIMIT 1 FOR UPDATE OF f SKIP LOCKED
), told AS (
  UPDATE documents d SET status_reason = $3 FROM chosen
   WHERE d.workspace_id = $1 AND d.id = chosen.document_id AND d.status = 'processing'
)
UPDATE document_files f
   SET claimed_until = clock_timestamp() + $2 * interval '1 second', starts = f.starts + 1
  FROM chosen
 WHERE f.workspace_id = $1 AND f.document_id = chosen.document_id
RETURNING f.document_id, f.digest, f.name, f.media_type, f.titled, f.starts, f.call
"""

_RENEW = """
UPDATE document_files SET claimed_until = clock_timestamp() + $3 * interval '1 second'
 WHERE workspace_id = $1 AND document_id = $2 AND state = 'waiting'
"""

_RELEASE = """
UPDATE document_files SET claimed_until = NULL, starts = greatest(starts - 1, 0)
 WHERE workspace_id = $1 AND document_id = $2 AND state = 'waiting'
"""

_END = """
UPDATE document_files SET state = $3, claimed_until = NULL, call = NULL
 WHERE workspace_id = $1 AND document_id = $2 AND state = 'waiting'
"""

# Whatever became of the file, the index goes on with what the document holds now; what holds nothing has failed.
_SET_FREE = """
UPDATE documents d
   SET index_claimed_until = NULL, status_reason = CASE WHEN f.failed THEN $3 END,
       status = CASE WHEN f.failed THEN 'failed' WHEN d.status = 'processing' THEN 'pending' ELSE d.status END,
       indexed_revision = CASE WHEN f.failed THEN d.revision ELSE d.indexed_revision END
  FROM (SELECT id, $3::text IS NOT NULL AND content_digest = text_digest('') AS failed
          FROM documents WHERE workspace_id = $1 AND id = $2 FOR NO KEY UPDATE) AS f
 WHERE d.workspace_id = $1 AND d.id = f.id AND d.index_claimed_until = 'infinity'
"""

_GET = """
SELECT f.name, f.media_type, encode(f.digest, 'hex') AS digest, b.content
  FROM document_files f
  JOIN documents d ON d.workspace_id = f.workspace_id AND d.id = f.document_id AND d.deleted_at IS NULL
  JOIN blobs b ON b.workspace_id = f.workspace_id AND b.digest = f.digest
 WHERE f.workspace_id = $1 AND f.document_id = $2
"""

_FORGET = "DELETE FROM document_files WHERE workspace_id = $1 AND document_id = $2 RETURNING digest"


@dataclass(frozen=True, slots=True)
class Waiting:
    """A file that this worker may read for a while, and the call that brought it."""

    document_id: UUID
    digest: bytes
    name: str
    media_type: str
    titled: bool
    starts: int
    call: Call


async def put_original(tx: Tx, document_id: UUID, file: UploadedFile) -> None:
    """Keep the file that a document was made from; the same bytes are kept once for a workspace."""
    digest = await blobs.put(tx, file.content)
    await tx.execute(_PUT_FILE, tx.workspace_id, document_id, digest, file.name, file.media_type)


async def await_text(tx: Tx, document_id: UUID, *, titled: bool, call: dict[str, Any], note: str) -> None:
    """Let a kept file wait for its reader, and its document for the text."""
    await tx.execute(_WAIT, tx.workspace_id, document_id, titled, call)
    await tx.execute(_AWAIT, tx.workspace_id, document_id, note)


async def list_waiting_workspaces(database: Database) -> list[UUID]:
    """List the workspaces that have files which nobody reads."""
    return [row["workspace_id"] for row in await database.system_rows(_SWEEP)]


async def claim_file(tx: Tx, seconds: int, note: str) -> Waiting | None:
    """Claim the file that has waited longest; None when none waits."""
    row = await tx.fetchrow(_CLAIM, tx.workspace_id, seconds, note)
    return Waiting(**dict(row)) if row is not None else None


async def renew_claim(tx: Tx, document_id: UUID, seconds: int) -> None:
    """Keep a claim for longer."""
    await tx.execute(_RENEW, tx.workspace_id, document_id, seconds)


async def release_claim(tx: Tx, document_id: UUID) -> None:
    """Give a file back unread; the start does not count."""
    await tx.execute(_RELEASE, tx.workspace_id, document_id)


async def end_reading(tx: Tx, document_id: UUID, failure: str | None) -> None:
    """Note that a file was read, or why not, and let the index go on with the document."""
    state = "read" if failure is None else "failed"
    await tx.execute(_END, tx.workspace_id, document_id, state)
    await tx.execute(_SET_FREE, tx.workspace_id, document_id, failure)


async def get_original(tx: Tx, document_id: UUID) -> asyncpg.Record | None:
    """Read the file that a document was made from."""
    return await tx.fetchrow(_GET, tx.workspace_id, document_id)


async def forget(tx: Tx, document_id: UUID) -> int:
    """Forget the file of a document, and its bytes unless another document came from them; returns how many went."""
    digest = await tx.fetchval(_FORGET, tx.workspace_id, document_id)
    if digest is None:
        return 0
    return await blobs.drop(tx, [digest])
