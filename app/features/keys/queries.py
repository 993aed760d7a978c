"""SQL of API keys. Credentials are a global table: the tenant is what they tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    import asyncpg

    from app.features.keys.schemas import CreateKey
    from app.kit.secrets import ApiKeyText
    from app.store.postgres import Database
    from app.store.tx import Tx

# One row has all that a principal needs: the view gives role and plan.
_GET = """
SELECT c.id AS credential_id, c.secret_hash, c.grant_id, c.scopes, c.collection_ids, p.*
  FROM credentials c
  JOIN principals p ON p.workspace_id = c.workspace_id AND p.user_id = c.user_id
 WHERE c.public_id = $1 AND c.revoked_at IS NULL AND (c.expires_at IS NULL OR c.expires_at > clock_timestamp())
"""

_INSERT = """
WITH owner AS (
  SELECT u.id AS user_id, w.id AS workspace_id
    FROM users u
    JOIN workspaces w ON w.created_by = u.id AND w.kind = 'personal'
   WHERE lower(u.email) = lower($4)
), made AS (
  INSERT INTO credentials (public_id, secret_hash, grant_id, workspace_id, user_id, name, scopes, expires_at,
                           collection_ids)
  SELECT $1, $2, $3, o.workspace_id, o.user_id, $5, $6, $7, $8::uuid[]
    FROM owner o
   WHERE $8 IS NULL OR cardinality($8) = (
         SELECT count(*) FROM collections c
          WHERE c.workspace_id = o.workspace_id AND c.id = ANY ($8) AND c.deleted_at IS NULL)
  RETURNING id
)
SELECT o.workspace_id, EXISTS (SELECT 1 FROM made) AS made FROM owner o
"""


_COLUMNS = (
    "id, name, public_id, scopes, collection_ids, created_at, expires_at, replaced_at, last_used_at, last_used_by"
)

_LIST = f"""
SELECT {_COLUMNS} FROM credentials
 WHERE workspace_id = $1 AND user_id = $2 AND revoked_at IS NULL
   AND (replaced_at IS NULL OR expires_at > clock_timestamp())
   AND ($3::timestamptz IS NULL OR (created_at, id) < ($3, $4::uuid))
 ORDER BY created_at DESC, id DESC LIMIT $5
"""

_CREATE = f"""
INSERT INTO credentials (public_id, secret_hash, grant_id, workspace_id, user_id, name, scopes, expires_at, id,
                         collection_ids)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10::uuid[]
 WHERE $10 IS NULL OR cardinality($10) = (
       SELECT count(*) FROM collections WHERE workspace_id = $4 AND id = ANY ($10) AND deleted_at IS NULL)
RETURNING {_COLUMNS}
"""

_LOCK = "SELECT id FROM credentials WHERE workspace_id = $1 AND user_id = $2 AND id = $3 FOR UPDATE"

# The old secret ends with the overlap, or earlier if it would have ended by then anyway; the new one keeps its end.
_ROTATE = f"""
WITH old AS (
  SELECT id, grant_id, name, scopes, expires_at, collection_ids FROM credentials
   WHERE workspace_id = $1 AND user_id = $2 AND id = $3 AND revoked_at IS NULL AND replaced_at IS NULL
     AND (expires_at IS NULL OR expires_at > clock_timestamp())
), ended AS (
  UPDATE credentials c
     SET replaced_at = clock_timestamp(),
         expires_at = least(c.expires_at, clock_timestamp() + make_interval(secs => $4))
    FROM old WHERE c.id = old.id
)
INSERT INTO credentials (public_id, secret_hash, grant_id, workspace_id, user_id, name, scopes, expires_at, id,
                         collection_ids)
SELECT $5, $6, grant_id, $1, $2, name, scopes, expires_at, $7, collection_ids FROM old
RETURNING {_COLUMNS}
"""

# The current key takes its predecessors along; a predecessor goes alone.
_REVOKE = """
WITH chosen AS (
  SELECT id, grant_id, replaced_at FROM credentials
   WHERE workspace_id = $1 AND user_id = $2 AND id = $3 AND revoked_at IS NULL
)
UPDATE credentials c SET revoked_at = clock_timestamp()
  FROM chosen
 WHERE c.workspace_id = $1 AND c.user_id = $2 AND c.revoked_at IS NULL
   AND (c.id = chosen.id OR (chosen.replaced_at IS NULL AND c.grant_id = chosen.grant_id))
RETURNING c.grant_id
"""

_MARK_USED = """
UPDATE credentials c SET last_used_at = clock_timestamp(), last_used_by = left(used.client, 200)
  FROM unnest($1::uuid[], $2::text[]) AS used(id, client)
 WHERE c.id = used.id
"""


async def list_keys(tx: Tx, user_id: UUID, after: tuple[datetime, UUID] | None, limit: int) -> Sequence[asyncpg.Record]:
    """List a user's keys of the transaction's workspace, the newest first, after a cursor."""
    return await tx.fetch(_LIST, tx.workspace_id, user_id, *(after or (None, None)), limit)


async def create_key(
    tx: Tx, user_id: UUID, key: ApiKeyText, grant_id: UUID, key_id: UUID, args: CreateKey
) -> asyncpg.Record | None:
    """Insert a key of the transaction's workspace; None when a collection that it is restricted to is absent."""
    scopes = [scope.value for scope in args.scopes]
    values = (key.public_id, key.secret_hash(), grant_id, tx.workspace_id, user_id, args.name, scopes)
    return await tx.fetchrow(_CREATE, *values, args.expires_at, key_id, args.collection_ids)


async def lock_key(tx: Tx, user_id: UUID, key_id: UUID) -> bool:
    """Wait for whoever changes the key, so that the clock is read afterwards."""
    return await tx.fetchrow(_LOCK, tx.workspace_id, user_id, key_id) is not None


async def rotate_key(
    tx: Tx, user_id: UUID, key_id: UUID, overlap_seconds: int, key: ApiKeyText, new_key_id: UUID
) -> asyncpg.Record | None:
    """Insert the successor of a current key and let the old one end; None when it is not current."""
    values = (overlap_seconds, key.public_id, key.secret_hash(), new_key_id)
    return await tx.fetchrow(_ROTATE, tx.workspace_id, user_id, key_id, *values)


async def revoke_key(tx: Tx, user_id: UUID, key_id: UUID) -> UUID | None:
    """End a key; returns its grant, None when there is no such key."""
    grant_id: UUID | None = await tx.fetchval(_REVOKE, tx.workspace_id, user_id, key_id)
    return grant_id


async def mark_used(database: Database, used: dict[UUID, str | None]) -> None:
    """Write that keys were used just now, and by which clients."""
    await database.system_rows(_MARK_USED, list(used), list(used.values()))


async def get_key(database: Database, public_id: str) -> asyncpg.Record | None:
    """Read a live key by its public id."""
    return await database.global_row(_GET, public_id)


async def insert_key(
    database: Database,
    key: ApiKeyText,
    grant_id: UUID,
    email: str,
    name: str,
    scopes: list[str],
    expires_at: datetime | None,
    collection_ids: Sequence[UUID] | None,
) -> asyncpg.Record | None:
    """Insert a key for a user's personal workspace; None when there is no such user.

    `made` is false when a collection that it is restricted to is absent.
    """
    rows = await database.system_rows(
        _INSERT, key.public_id, key.secret_hash(), grant_id, email, name, scopes, expires_at, collection_ids
    )
    return rows[0] if rows else None
