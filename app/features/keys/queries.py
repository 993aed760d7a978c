"""SQL of API keys. Credentials are a global table: the tenant is what they tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    import asyncpg

    from app.store.postgres import Database

# One row has all that a principal needs: role and plan come with the key.
_GET = """
SELECT c.secret_hash, c.grant_id, c.workspace_id, c.user_id, c.scopes, c.expires_at, u.name AS user_name, m.role,
       s.workspace_id IS NOT NULL AS subscribed, s.plan, s.trial_ends_at, s.trial_ends_at < clock_timestamp() AS lapsed
  FROM credentials c
  JOIN users u ON u.id = c.user_id
  JOIN memberships m ON m.workspace_id = c.workspace_id AND m.user_id = c.user_id
  LEFT JOIN subscriptions s ON s.workspace_id = c.workspace_id
 WHERE c.public_id = $1 AND c.revoked_at IS NULL AND (c.expires_at IS NULL OR c.expires_at > clock_timestamp())
"""

_INSERT = """
INSERT INTO credentials (public_id, secret_hash, grant_id, workspace_id, user_id, name, scopes, expires_at)
SELECT $1, $2, $3, w.id, u.id, $5, $6, $7
  FROM users u
  JOIN workspaces w ON w.created_by = u.id AND w.kind = 'personal'
 WHERE lower(u.email) = lower($4)
RETURNING workspace_id
"""


async def get_key(database: Database, public_id: str) -> asyncpg.Record | None:
    """Read a live key by its public id."""
    return await database.global_row(_GET, public_id)


async def insert_key(
    database: Database,
    public_id: str,
    secret_hash: bytes,
    grant_id: UUID,
    email: str,
    name: str,
    scopes: list[str],
    expires_at: datetime | None,
) -> asyncpg.Record | None:
    """Insert a key for a user's personal workspace; None when there is no such user."""
    rows = await database.system_rows(_INSERT, public_id, secret_hash, grant_id, email, name, scopes, expires_at)
    return rows[0] if rows else None
