"""SQL of public links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.store.tx import count_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    import asyncpg

    from app.features.links.schemas import CreateLink
    from app.gate.operation import Context
    from app.store.postgres import Database
    from app.store.tx import Tx

_LIVE = "l.ended_at IS NULL AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp())"

_LIST = f"""
SELECT l.id, l.item_type, l.item_id, i.title, l.password_hash IS NOT NULL AS has_password, l.created_at,
       l.created_by_name AS created_by, l.expires_at, l.views, l.copies, l.last_viewed_at, t.token_hash
  FROM links l
  JOIN items i ON i.workspace_id = l.workspace_id AND i.kind = l.item_type AND i.id = l.item_id AND i.deleted_at IS NULL
  JOIN link_tokens t ON t.link_id = l.id
 WHERE l.workspace_id = $1 AND {_LIVE}
   AND ($2::timestamptz IS NULL OR (l.created_at, l.id) < ($2, $3::uuid))
   AND ($4::uuid IS NULL OR l.item_id = $4) AND ($5::uuid IS NULL OR l.id = $5)
 ORDER BY l.created_at DESC, l.id DESC
 LIMIT $6
"""

_ITEM = """
SELECT kind FROM items WHERE workspace_id = $1 AND id = $2 AND kind IN ('document', 'prompt') AND deleted_at IS NULL
"""

# What ran out by itself stands no more in the way of another link.
_CLEAR = """
UPDATE links SET ended_at = expires_at
 WHERE workspace_id = $1 AND item_type = $2 AND item_id = $3 AND ended_at IS NULL AND expires_at <= clock_timestamp()
"""

_INSERT = """
INSERT INTO links (workspace_id, id, item_type, item_id, password_hash, created_by, created_by_name, created_at,
                   expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, clock_timestamp(), $8)
ON CONFLICT (workspace_id, item_type, item_id) WHERE ended_at IS NULL DO NOTHING
RETURNING created_at
"""

_INSERT_TOKEN = "INSERT INTO link_tokens (token_hash, workspace_id, link_id) VALUES ($1, $2, $3)"  # noqa: S105

_END = """
UPDATE links SET ended_at = clock_timestamp()
 WHERE workspace_id = $1 AND id = $2 AND ended_at IS NULL
RETURNING item_type, item_id, expires_at <= clock_timestamp() AS expired
"""

_TOKEN = "SELECT workspace_id, link_id FROM link_tokens WHERE token_hash = $1"  # noqa: S105

_READ = f"""
SELECT l.id, l.workspace_id, l.item_type, l.item_id, l.password_hash
  FROM links l WHERE l.workspace_id = $1 AND l.id = $2 AND {_LIVE}
"""

_COUNT = """
UPDATE links l SET {column} = l.{column} + n.count{also}
  FROM unnest($1::uuid[], $2::bigint[]) AS n(id, count)
  JOIN link_tokens t ON t.link_id = n.id
 WHERE l.workspace_id = t.workspace_id AND l.id = t.link_id
RETURNING l.workspace_id, l.item_type, l.item_id, n.count
"""
_COUNTS = {
    "views": _COUNT.format(column="views", also=", last_viewed_at = clock_timestamp()"),
    "copies": _COUNT.format(column="copies", also=""),
}

_EXPIRED = """
SELECT workspace_id, id, item_type, item_id FROM links
 WHERE ended_at IS NULL AND expires_at <= clock_timestamp() LIMIT $1
"""

_FORGET = """
WITH old AS (
  SELECT workspace_id, id FROM links WHERE ended_at < clock_timestamp() - interval '30 days' LIMIT $1
), tokens AS (
  DELETE FROM link_tokens t USING old WHERE t.link_id = old.id RETURNING t.link_id
)
SELECT link_id FROM tokens
"""
_FORGET_LINKS = """
DELETE FROM links l
 WHERE l.ended_at < clock_timestamp() - interval '30 days'
   AND NOT EXISTS (SELECT FROM link_tokens t WHERE t.link_id = l.id)
"""

_ERASE_TOKENS = """
DELETE FROM link_tokens t USING links l
 WHERE l.workspace_id = $1 AND l.item_type = $2 AND l.item_id = $3 AND t.link_id = l.id
"""
_ERASE = "DELETE FROM links WHERE workspace_id = $1 AND item_type = $2 AND item_id = $3"


async def list_links(
    tx: Tx,
    after: tuple[datetime, UUID] | None,
    limit: int,
    *,
    item_id: UUID | None = None,
    link_id: UUID | None = None,
) -> list[asyncpg.Record]:
    """List live links, newest first, after a cursor."""
    return await tx.fetch(_LIST, tx.workspace_id, *(after or (None, None)), item_id, link_id, limit)


async def item_exists(tx: Tx, item_id: UUID, item_type: str | None = None) -> bool:
    """Tell whether a document or prompt is there and not in the trash."""
    kind = await tx.fetchval(_ITEM, tx.workspace_id, item_id)
    return kind is not None and item_type in (None, kind)


async def insert_link(
    ctx: Context, link_id: UUID, args: CreateLink, token_hash: bytes, password_hash: str | None
) -> datetime | None:
    """Insert a link and what finds it; gives its time, None when the item has a live link."""
    await ctx.tx.execute(_CLEAR, ctx.workspace_id, args.item_type, args.item_id)
    principal = ctx.principal
    values = (args.item_type, args.item_id, password_hash, principal.user_id, principal.user_name, args.expires_at)
    created_at: datetime | None = await ctx.tx.fetchval(_INSERT, ctx.workspace_id, link_id, *values)
    if created_at is not None:
        await ctx.tx.execute(_INSERT_TOKEN, token_hash, ctx.workspace_id, link_id)
    return created_at


async def end_link(tx: Tx, link_id: UUID) -> asyncpg.Record | None:
    """End a link; gives what it showed, None when it had ended or never was."""
    return await tx.fetchrow(_END, tx.workspace_id, link_id)


async def find_token(database: Database, token_hash: bytes) -> asyncpg.Record | None:
    """Tell whose a token is."""
    return await database.global_row(_TOKEN, token_hash)


async def read_link(tx: Tx, link_id: UUID) -> asyncpg.Record | None:
    """Read a link; None when it is not live now."""
    return await tx.fetchrow(_READ, tx.workspace_id, link_id)


async def count_reads(database: Database, column: str, counts: Mapping[UUID, int]) -> Sequence[asyncpg.Record]:
    """Add to the numbers of views or copies of links; gives of each link what it shows, and its count."""
    return await database.system_rows(_COUNTS[column], list(counts), list(counts.values()))


async def list_expired(database: Database, limit: int) -> Sequence[asyncpg.Record]:
    """List links of all workspaces whose time is over and that do not say so yet."""
    return await database.system_rows(_EXPIRED, limit)


async def forget_ended(database: Database, limit: int) -> None:
    """Remove links that ended long ago."""
    await database.system_rows(_FORGET, limit)
    await database.system_rows(_FORGET_LINKS)


async def erase_links(tx: Tx, item_type: str, item_id: UUID) -> int:
    """Remove all links of a buried item."""
    await tx.execute(_ERASE_TOKENS, tx.workspace_id, item_type, item_id)
    return count_of(await tx.execute(_ERASE, tx.workspace_id, item_type, item_id))
