"""SQL of the authorization server on the service's own pools: tokens at the gate, documents, connected apps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.features.oauth.schemas import ClientRow, ConnectedApp

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    import asyncpg

    from app.store.postgres import Database

_BY_ACCESS = """
SELECT t.resource, t.scopes, t.grant_id, p.*
  FROM oauth_tokens t
  JOIN oauth_grants g ON g.id = t.grant_id
  JOIN principals p ON p.workspace_id = g.workspace_id AND p.user_id = g.user_id
 WHERE t.token_hash = $1 AND t.kind = 'access' AND t.revoked_at IS NULL AND g.revoked_at IS NULL
   AND t.expires_at > clock_timestamp()
"""

_KEEP_DOCUMENT = """
INSERT INTO oauth_clients (client_id, kind, metadata, expires_at)
VALUES ($1, 'document', $2, clock_timestamp() + make_interval(secs => $3))
ON CONFLICT (client_id) DO UPDATE SET metadata = excluded.metadata, expires_at = excluded.expires_at
 WHERE oauth_clients.kind = 'document'
"""

_DOCUMENT = """
SELECT client_id, kind, metadata, coalesce(expires_at > clock_timestamp(), true) AS fresh
  FROM oauth_clients WHERE client_id = $1 AND kind = 'document'
"""

_WORKSPACES = """
SELECT w.id, w.name, w.kind, m.role,
       (SELECT name FROM users WHERE id = w.created_by AND w.kind = 'personal' AND id <> $1) AS owner
  FROM memberships m JOIN workspaces w ON w.id = m.workspace_id
 WHERE m.user_id = $1
 ORDER BY (w.kind = 'personal' AND w.created_by = $1) DESC, w.name, w.id
"""

_APPS = """
SELECT g.id, g.client_id, g.client_name, g.resource, g.scopes, w.name AS workspace_name, g.created_at, g.last_used_at,
       (SELECT name FROM users WHERE id = w.created_by AND w.kind = 'personal' AND id <> $1) AS workspace_owner
  FROM oauth_grants g JOIN workspaces w ON w.id = g.workspace_id
 WHERE g.user_id = $1 AND g.revoked_at IS NULL
   AND EXISTS (SELECT FROM oauth_tokens t
                WHERE t.grant_id = g.id AND t.revoked_at IS NULL AND t.expires_at > clock_timestamp())
 ORDER BY g.created_at DESC, g.id
 LIMIT 500
"""

_REVOKE_GRANT = """
UPDATE oauth_grants SET revoked_at = clock_timestamp()
 WHERE id = $1 AND user_id = $2 AND revoked_at IS NULL
RETURNING id
"""

_MARK_GRANTS = """
UPDATE oauth_grants g SET last_used_at = greatest(g.last_used_at, clock_timestamp())
 WHERE g.id = ANY($1)
"""

# Used codes and tokens are kept for a day, so that a replay is still known for one.
_PURGE = """
WITH codes AS (
  DELETE FROM oauth_codes WHERE expires_at < clock_timestamp() - interval '1 day'
), devices AS (
  DELETE FROM oauth_device_codes WHERE expires_at < clock_timestamp() - interval '1 day'
), tokens AS (
  DELETE FROM oauth_tokens WHERE expires_at < clock_timestamp() - interval '1 day'
)
DELETE FROM oauth_clients WHERE kind IN ('registered', 'document') AND expires_at < clock_timestamp() - interval '1 day'
"""


async def get_access_token(database: Database, token_hash: bytes) -> asyncpg.Record | None:
    """Read a live access token with all that a principal needs."""
    return await database.global_row(_BY_ACCESS, token_hash)


async def keep_document(database: Database, client_id: str, metadata: dict[str, Any], seconds: int) -> None:
    """Keep a client's document for every process."""
    await database.system_rows(_KEEP_DOCUMENT, client_id, metadata, seconds)


async def get_document(database: Database, client_id: str) -> ClientRow | None:
    """Read a kept document; `fresh` tells whether its time is over."""
    row = await database.global_row(_DOCUMENT, client_id)
    return ClientRow(**dict(row)) if row else None


async def list_workspaces(database: Database, user_id: UUID) -> Sequence[asyncpg.Record]:
    """List the workspaces of a user, the personal one first."""
    return await database.system_rows(_WORKSPACES, user_id)


async def list_apps(database: Database, user_id: UUID) -> list[ConnectedApp]:
    """List the grants that still give access."""
    rows = await database.system_rows(_APPS, user_id)
    return [ConnectedApp(**(dict(row) | {"scopes": tuple(row["scopes"])})) for row in rows]


async def revoke_grant(database: Database, user_id: UUID, grant_id: UUID) -> bool:
    """End a grant of a user, and with it all of its tokens."""
    return bool(await database.system_rows(_REVOKE_GRANT, grant_id, user_id))


async def mark_grants(database: Database, grant_ids: Sequence[UUID]) -> None:
    """Write down that grants were used just now."""
    await database.system_rows(_MARK_GRANTS, list(grant_ids))


async def purge(database: Database) -> None:
    """Remove what is long expired."""
    await database.system_rows(_PURGE)
