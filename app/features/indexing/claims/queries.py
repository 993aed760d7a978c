"""SQL of claims: documents that are behind, taken for a while by one worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from app.store.postgres import Database
    from app.store.tx import Tx

_PENDING = """
((deleted_at IS NULL AND indexed_revision < revision) OR (deleted_at IS NOT NULL AND chunked_revision > 0))
AND (index_claimed_until IS NULL OR index_claimed_until < clock_timestamp())
"""

_SWEEP = f"SELECT DISTINCT workspace_id FROM documents WHERE {_PENDING}"

# What to do next has two orders, each of a bounded choice. The oldest changes, and of these first what no word finds
# yet; or the shortest texts of the newest changes, so that a note does not wait for books that came before it.
_WAITING = f"workspace_id = $1 AND index_attempts BETWEEN $2 AND $3 AND {_PENDING}"
_OLDEST = f"""
SELECT id FROM (
  SELECT id, deleted_at IS NULL AND chunked_revision >= revision AS cut, last_changed_at
    FROM documents WHERE {_WAITING} ORDER BY last_changed_at LIMIT 1000) AS waiting
 ORDER BY cut, last_changed_at LIMIT $4
"""
# Only texts of about one length are taken together: cutting a book would use up the note's turn.
_SHORTEST = f"""
SELECT id FROM (
  SELECT id, last_changed_at, size, min(size) OVER () AS least
    FROM (SELECT id, content_digest, last_changed_at
            FROM documents WHERE {_WAITING} ORDER BY last_changed_at DESC LIMIT 200) AS waiting
   CROSS JOIN LATERAL (
         SELECT pg_column_size(content) AS size FROM contents
          WHERE workspace_id = $1 AND digest = waiting.content_digest OFFSET 0) AS text) AS sized
 WHERE size <= 4 * least + 8192
 ORDER BY size, last_changed_at LIMIT $4
"""

# A claim that its worker does not renew runs out, and somebody else takes the document. The choice is materialized:
# as a subquery of the update it may run once for each row.
_CLAIM = f"""
WITH chosen AS MATERIALIZED (
  SELECT id FROM documents
   WHERE {_WAITING} AND id = ANY($5::uuid[]) FOR UPDATE SKIP LOCKED)
UPDATE documents d
   SET index_claimed_until = clock_timestamp() + $4 * interval '1 second', index_attempts = index_attempts + 1,
       status = CASE WHEN d.deleted_at IS NULL THEN 'processing' ELSE d.status END, status_reason = NULL
  FROM chosen
 WHERE d.workspace_id = $1 AND d.id = chosen.id
RETURNING d.id, d.title, d.content_digest, d.revision, d.chunked_revision, d.language,
          d.deleted_at IS NOT NULL AS deleted, d.last_changed_at
"""

_RENEW = """
UPDATE documents SET index_claimed_until = clock_timestamp() + $3 * interval '1 second'
 WHERE workspace_id = $1 AND id = ANY($2)
"""

_RELEASE = """
UPDATE documents SET index_claimed_until = NULL, index_attempts = greatest(index_attempts - $3, 0)
 WHERE workspace_id = $1 AND id = ANY($2)
"""

_GIVE_UP = f"""
UPDATE documents
   SET status = 'failed', status_reason = $3, indexed_revision = revision, index_claimed_until = NULL
 WHERE workspace_id = $1 AND index_attempts > $2 AND deleted_at IS NULL AND {_PENDING}
"""


@dataclass(frozen=True, slots=True)
class Claimed:
    """A document whose index this worker may bring up to date for a while."""

    id: UUID
    title: str
    content_digest: bytes
    revision: int
    chunked_revision: int
    language: str | None
    deleted: bool
    last_changed_at: datetime


async def list_pending_workspaces(database: Database) -> list[UUID]:
    """List the workspaces in which the index is behind and nobody works on it."""
    return [row["workspace_id"] for row in await database.system_rows(_SWEEP)]


async def claim_documents(
    tx: Tx, *, attempts: tuple[int, int], limit: int, seconds: int, shortest: bool
) -> list[Claimed]:
    """Claim documents that are behind and have been started so many times before.

    The oldest changes come first, or the shortest of the newest. None may be claimed where others were quicker.
    """
    waiting = await tx.fetch(_SHORTEST if shortest else _OLDEST, tx.workspace_id, *attempts, limit)
    if not waiting:
        return []
    ids = [row["id"] for row in waiting]
    rows = await tx.fetch(_CLAIM, tx.workspace_id, *attempts, seconds, ids)
    return sorted((Claimed(**dict(row)) for row in rows), key=lambda item: ids.index(item.id))


async def renew_claims(tx: Tx, ids: Sequence[UUID], seconds: int) -> None:
    """Keep claims for longer."""
    await tx.execute(_RENEW, tx.workspace_id, ids, seconds)


async def release_claims(tx: Tx, ids: Sequence[UUID], *, blameless: bool) -> None:
    """Give documents back unfinished; a blameless start is not counted against them."""
    await tx.execute(_RELEASE, tx.workspace_id, ids, int(blameless))


async def update_exhausted(tx: Tx, max_attempts: int, reason: str) -> None:
    """Mark documents that were started too often as failed: each start may have ended its worker."""
    await tx.execute(_GIVE_UP, tx.workspace_id, max_attempts, reason)
