"""SQL of API keys. Credentials are a global table: the tenant is what they tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    import asyncpg

    from app.store.postgres import Database

# One row has all that a principal needs: the view gives role and plan.
_GET = """
SELECT c.secret_hash, c.grant_id, c.scopes, p.*
  FROM credentials c
  JOIN principals p ON p.workspace_id = c.workspace_id AND p.user_id = c.user_id
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
