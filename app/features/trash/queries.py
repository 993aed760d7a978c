"""SQL of the trash, over the view of all items; row-level security decides what the caller sees of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.gate.trash import DAYS
from app.store.tx import count_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    import asyncpg

    from app.store.postgres import Database
    from app.store.tx import Tx

_LIST = f"""
SELECT id, kind, title, deleted_at, deleted_at + interval '{DAYS} days' AS expires_at, deleted_at AS created_at
  FROM items
 WHERE workspace_id = $1 AND deleted_at IS NOT NULL AND kind = ANY ($2)
   AND ($3::timestamptz IS NULL OR (deleted_at, id) < ($3, $4::uuid))
 ORDER BY deleted_at DESC, id DESC
 LIMIT $5
"""

_KIND = "SELECT kind FROM items WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NOT NULL AND kind = ANY ($3)"

_RECEIPTS = (
    "UPDATE receipts SET body = NULL WHERE workspace_id = $1 AND object_ids @> ARRAY[$2::uuid] AND body IS NOT NULL"
)

_EXPIRED = f"""
SELECT workspace_id, kind, id FROM items
 WHERE deleted_at < clock_timestamp() - interval '{DAYS} days' AND kind = ANY ($1)
 ORDER BY deleted_at LIMIT $2
"""


async def list_trash(
    tx: Tx, kinds: Sequence[str], after: tuple[datetime, UUID] | None, limit: int
) -> list[asyncpg.Record]:
    """List deleted items of some kinds, the last deleted first, after a cursor."""
    deleted_at, item_id = after or (None, None)
    return await tx.fetch(_LIST, tx.workspace_id, kinds, deleted_at, item_id, limit)


async def get_kind(tx: Tx, kinds: Sequence[str], item_id: UUID) -> str | None:
    """Tell what a deleted item is; None when there is none of these kinds."""
    kind: str | None = await tx.fetchval(_KIND, tx.workspace_id, item_id, kinds)
    return kind


async def forget_answers(tx: Tx, item_id: UUID) -> int:
    """Remove the stored answers that tell of an item; their receipts stay, so that nothing is done twice."""
    return count_of(await tx.execute(_RECEIPTS, tx.workspace_id, item_id))


async def list_expired(database: Database, kinds: Sequence[str], limit: int) -> Sequence[asyncpg.Record]:
    """List items of all workspaces whose time in the trash is over, the oldest first."""
    return await database.system_rows(_EXPIRED, kinds, limit)
