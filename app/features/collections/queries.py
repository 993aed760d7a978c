"""SQL of collections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.kit.paging import Sort
from app.kit.revision import expected
from app.store.tx import count_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    import asyncpg

    from app.features.collections.schemas import ChangeItems, CreateCollection, ListCollections, PatchCollection
    from app.gate.operation import Context
    from app.kit.revision import Precondition
    from app.store.tx import Tx

# $2 names the kinds of items that the caller may read, who is $3; members in the trash do not count.
_SELECT = """
SELECT c.id, c.name, c.description, c.color, c.icon, c.tags, c.revision, encode(c.content_hash, 'hex') AS content_hash,
       c.created_at, c.last_changed_at, text_trust('one', c.created_by, $3) AS trust,
       (SELECT count(*) FROM collection_items i
          JOIN items x ON x.workspace_id = i.workspace_id AND x.kind = i.item_type AND x.id = i.item_id
         WHERE i.workspace_id = c.workspace_id AND i.collection_id = c.id AND i.item_type = ANY ($2)
           AND x.deleted_at IS NULL) AS item_count
  FROM collections c
 WHERE c.workspace_id = $1 AND c.deleted_at IS NULL
"""

_GET = f"{_SELECT} AND c.id = $4"

_LISTS = {
    sort: f"""
{_SELECT}
   AND ($4::text IS NULL OR position(lower($4) IN lower(c.name)) > 0
        OR position(lower($4) IN lower(c.description)) > 0)
   AND ($5::timestamptz IS NULL OR (c.{sort.column}, c.id) < ($5, $6::uuid))
   AND c.tags @> $7::text[]
   AND ($8::uuid IS NULL
        OR EXISTS (SELECT FROM collection_items i
                    WHERE i.workspace_id = c.workspace_id AND i.collection_id = c.id AND i.item_type = ANY ($2)
                      AND i.item_id = $8))
 ORDER BY c.{sort.column} DESC, c.id DESC
 LIMIT $9
"""
    for sort in Sort
}

_ITEM_EXISTS = """
SELECT EXISTS (SELECT FROM items WHERE workspace_id = $1 AND kind = ANY ($2) AND id = $3 AND deleted_at IS NULL)
"""

_EXISTS = "SELECT EXISTS (SELECT FROM collections WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NULL)"

_INSERT = """
INSERT INTO collections (workspace_id, id, name, description, color, icon, tags, content_hash, created_by, created_at,
                         last_changed_at)
SELECT $1, $2, $3, $4, nullif($5, ''), $6, $7, collection_hash($3, $4, $5, $6, $7), $8, made.at, made.at
  FROM (SELECT clock_timestamp() AS at) AS made
RETURNING id, name, description, color, icon, tags, revision, encode(content_hash, 'hex') AS content_hash, created_at,
          last_changed_at, 0 AS item_count
"""

_WRITE = "SELECT * FROM collection_write($1, $2, $3, $4, $5, $6, $7, $8, $9)"

_DELETE = "SELECT * FROM collection_delete($1, $2, $3, $4, $5)"

_CHANGE_ITEMS = "SELECT * FROM collection_change_items($1, $2, $3, $4, $5, $6, $7)"

_ITEMS = """
SELECT i.item_id, i.item_type, x.title, i.added_at, i.item_id AS id, i.added_at AS created_at,
       text_trust(coalesce(d.hands, p.hands), coalesce(d.created_by, p.created_by), $7) AS trust
  FROM collection_items i
  JOIN items x ON x.workspace_id = i.workspace_id AND x.kind = i.item_type AND x.id = i.item_id
  LEFT JOIN documents d ON i.item_type = 'document' AND d.workspace_id = i.workspace_id AND d.id = i.item_id
  LEFT JOIN prompts p ON i.item_type = 'prompt' AND p.workspace_id = i.workspace_id AND p.id = i.item_id
 WHERE i.workspace_id = $1 AND i.item_type = ANY ($2) AND i.collection_id = $3 AND x.deleted_at IS NULL
   AND ($4::timestamptz IS NULL OR (i.added_at, i.item_id) < ($4, $5::uuid))
 ORDER BY i.added_at DESC, i.item_id DESC
 LIMIT $6
"""

_PLACE = "SELECT collection_place($1, $2, $3, $4, $5)"

_UNDELETE = """
UPDATE collections SET deleted_at = NULL, deleted_by = NULL
 WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NOT NULL AND purged_at IS NULL
RETURNING revision
"""

_BURY = """
UPDATE collections
   SET purged_at = clock_timestamp(), name = '', description = '', color = NULL, icon = '', tags = '{}',
       content_hash = collection_hash('', '', '', '', '{}')
 WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NOT NULL AND purged_at IS NULL
RETURNING revision
"""

_EMPTY = "DELETE FROM collection_items WHERE workspace_id = $1 AND collection_id = $2"

_LEAVE = "DELETE FROM collection_items WHERE workspace_id = $1 AND item_type = $2 AND item_id = $3"


async def get_collection(tx: Tx, kinds: Sequence[str], collection_id: UUID, reader: UUID) -> asyncpg.Record | None:
    """Read a collection that is not in the trash."""
    return await tx.fetchrow(_GET, tx.workspace_id, kinds, reader, collection_id)


async def collection_exists(tx: Tx, collection_id: UUID) -> bool:
    """Tell whether a collection is there and not in the trash."""
    return bool(await tx.fetchval(_EXISTS, tx.workspace_id, collection_id))


async def list_collections(
    tx: Tx, kinds: Sequence[str], args: ListCollections, after: tuple[datetime, UUID] | None, limit: int, reader: UUID
) -> list[asyncpg.Record]:
    """List collections, in the order asked for, after a cursor."""
    values = (kinds, reader, args.search, *(after or (None, None)), args.tags, args.item_id, limit)
    return await tx.fetch(_LISTS[args.sort], tx.workspace_id, *values)


async def item_exists(tx: Tx, kinds: Sequence[str], item_id: UUID) -> bool:
    """Tell whether there is an item of these kinds that is not in the trash."""
    return bool(await tx.fetchval(_ITEM_EXISTS, tx.workspace_id, kinds, item_id))


async def list_items(
    tx: Tx, kinds: Sequence[str], collection_id: UUID, after: tuple[datetime, UUID] | None, limit: int, reader: UUID
) -> list[asyncpg.Record]:
    """List the members of a collection that are not in the trash, the last added first, after a cursor."""
    added_at, item_id = after or (None, None)
    return await tx.fetch(_ITEMS, tx.workspace_id, kinds, collection_id, added_at, item_id, limit, reader)


async def insert_collection(ctx: Context, collection_id: UUID, args: CreateCollection, icon: str) -> asyncpg.Record:
    """Insert a collection at revision 1."""
    values = (args.name, args.description, args.color, icon, args.tags, ctx.principal.user_id)
    row = await ctx.tx.fetchrow(_INSERT, ctx.workspace_id, collection_id, *values)
    assert row is not None
    return row


async def update_collection_if_current(tx: Tx, args: PatchCollection, icon: str | None) -> asyncpg.Record:
    """Change a collection when the precondition holds; the row tells the outcome and the current revision."""
    fields = (args.name, args.description, args.color, icon, args.tags)
    row = await tx.fetchrow(_WRITE, tx.workspace_id, args.collection_id, *expected(args.precondition), *fields)
    assert row is not None
    return row


async def delete_collection_if_current(
    ctx: Context, collection_id: UUID, precondition: Precondition | None
) -> asyncpg.Record:
    """Move a collection to the trash when the precondition holds."""
    values = (*expected(precondition), ctx.principal.user_id)
    row = await ctx.tx.fetchrow(_DELETE, ctx.workspace_id, collection_id, *values)
    assert row is not None
    return row


async def change_items_if_current(tx: Tx, args: ChangeItems, added_by: UUID | None) -> asyncpg.Record:
    """Add items for a user, or remove them (no user), when the precondition holds."""
    values = (*expected(args.precondition), args.item_type.value, args.ids, added_by)
    row = await tx.fetchrow(_CHANGE_ITEMS, tx.workspace_id, args.collection_id, *values)
    assert row is not None
    return row


async def place(ctx: Context, collection_id: UUID, item_type: str, item_id: UUID) -> bool:
    """Make an item that is about to be written a member; False when there is no such collection."""
    values = (collection_id, item_type, item_id, ctx.principal.user_id)
    return bool(await ctx.tx.fetchval(_PLACE, ctx.workspace_id, *values))


async def undelete_collection(tx: Tx, collection_id: UUID) -> int | None:
    """Take a collection out of the trash; gives its revision, None when it is not there."""
    revision: int | None = await tx.fetchval(_UNDELETE, tx.workspace_id, collection_id)
    return revision


async def bury_collection(tx: Tx, collection_id: UUID) -> int | None:
    """Make a tombstone of a deleted collection; gives its revision, None when it is not in the trash."""
    revision: int | None = await tx.fetchval(_BURY, tx.workspace_id, collection_id)
    return revision


async def delete_members(tx: Tx, collection_id: UUID) -> int:
    """Remove all members of a collection from it."""
    return count_of(await tx.execute(_EMPTY, tx.workspace_id, collection_id))


async def delete_memberships(tx: Tx, item_type: str, item_id: UUID) -> int:
    """Remove an item from all collections."""
    return count_of(await tx.execute(_LEAVE, tx.workspace_id, item_type, item_id))
