"""SQL of browser sessions, passwords and one-time links. All are global tables: the tenant is what they tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.kit.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    import asyncpg

    from app.store.postgres import Database
    from app.store.tx import Tx

LINK_SECONDS = 24 * 3600

_LIVE = """s.revoked_at IS NULL AND s.expires_at > clock_timestamp()
   AND s.last_seen_at > clock_timestamp() - interval '14 days'"""

_SESSION = f"""
SELECT s.id AS session_id, p.*
  FROM browser_sessions s
  JOIN principals p ON p.workspace_id = s.workspace_id AND p.user_id = s.user_id
 WHERE s.token_hash = $1 AND {_LIVE}
"""

# The workspace of the latest session, as long as the person is still a member of it; else the personal one.
_ACCOUNT = """
SELECT u.id, u.email, u.name, u.password_hash, coalesce(
         (SELECT s.workspace_id FROM browser_sessions s
            JOIN memberships m ON m.workspace_id = s.workspace_id AND m.user_id = s.user_id
           WHERE s.user_id = u.id ORDER BY s.created_at DESC LIMIT 1),
         (SELECT w.id FROM workspaces w WHERE w.created_by = u.id AND w.kind = 'personal')) AS workspace_id
  FROM users u
"""
_ACCOUNT_BY_EMAIL = f"{_ACCOUNT} WHERE lower(u.email) = lower($1)"
_ACCOUNT_BY_ID = f"{_ACCOUNT} WHERE u.id = $1"

# A password that was changed meanwhile opens no session.
_INSERT_SESSION = """
INSERT INTO browser_sessions (id, token_hash, user_id, workspace_id, address, user_agent, expires_at)
SELECT $1, $2, u.id, $4, $5, left($6, 300), clock_timestamp() + interval '90 days'
  FROM users u WHERE u.id = $3 AND u.password_hash = $7
RETURNING id
"""

_REVOKE_COOKIE = """
UPDATE browser_sessions SET revoked_at = clock_timestamp()
 WHERE token_hash = $1 AND revoked_at IS NULL RETURNING id, user_id
"""
_REVOKE_ONE = """
UPDATE browser_sessions SET revoked_at = clock_timestamp()
 WHERE id = $1 AND user_id = $2 AND revoked_at IS NULL RETURNING id
"""
_REVOKE_ALL = "UPDATE browser_sessions SET revoked_at = clock_timestamp() WHERE user_id = $1 AND revoked_at IS NULL"

_LIST = f"""
SELECT s.id, s.address, s.user_agent, s.created_at, s.last_seen_at
  FROM browser_sessions s WHERE s.user_id = $1 AND {_LIVE} ORDER BY s.last_seen_at DESC, s.id LIMIT 100
"""

_SEEN = """
UPDATE browser_sessions SET last_seen_at = clock_timestamp()
 WHERE id = ANY($1) AND revoked_at IS NULL AND last_seen_at > clock_timestamp() - interval '14 days'
"""

_REHASH = "UPDATE users SET password_hash = $2 WHERE id = $1 AND password_hash = $3"
_SET_PASSWORD = "UPDATE users SET password_hash = $2, password_changed_at = clock_timestamp() WHERE id = $1"  # noqa: S105
_CHANGE_PASSWORD = f"{_SET_PASSWORD} AND password_hash = $3 RETURNING id"

_INSERT_LINK = """
INSERT INTO one_time_links (token_hash, purpose, user_id, email, expires_at)
VALUES ($1, $2, $3, $4, clock_timestamp() + interval '24 hours') RETURNING expires_at
"""
_LIVE_LINK = "token_hash = $1 AND purpose = ANY($2) AND used_at IS NULL AND expires_at > clock_timestamp()"
_PEEK_LINK = f"SELECT purpose, user_id, email FROM one_time_links WHERE {_LIVE_LINK}"
_LOCK_LINK = "SELECT 1 FROM one_time_links WHERE token_hash = $1 FOR UPDATE"
_USE_LINK = f"""
UPDATE one_time_links SET used_at = clock_timestamp() WHERE {_LIVE_LINK} RETURNING purpose, user_id, email
"""
_END_LINKS = """
UPDATE one_time_links SET used_at = clock_timestamp()
 WHERE user_id = $1 AND purpose IN ('sign_in', 'password_reset') AND used_at IS NULL
"""

_FORGET = """
WITH links AS (DELETE FROM one_time_links WHERE expires_at < clock_timestamp() - interval '7 days')
DELETE FROM browser_sessions
 WHERE greatest(expires_at, revoked_at) < clock_timestamp() - interval '30 days'
    OR last_seen_at < clock_timestamp() - interval '44 days'
"""


async def get_session(database: Database, token_hash: bytes) -> asyncpg.Record | None:
    """Read what a live session's principal needs."""
    return await database.global_row(_SESSION, token_hash)


async def account_of_email(database: Database, email: str) -> asyncpg.Record | None:
    """Read an account by its address."""
    rows = await database.system_rows(_ACCOUNT_BY_EMAIL, email)
    return rows[0] if rows else None


async def account_of_id(database: Database, user_id: UUID) -> asyncpg.Record | None:
    """Read an account by its id."""
    rows = await database.system_rows(_ACCOUNT_BY_ID, user_id)
    return rows[0] if rows else None


async def insert_session(
    tx: Tx,
    token_hash: bytes,
    user_id: UUID,
    workspace_id: UUID,
    password_hash: str,
    *,
    address: str,
    user_agent: str | None,
) -> bool:
    """Open a session; False when the password is another one by now."""
    values = (new_id(), token_hash, user_id, workspace_id, address, user_agent, password_hash)
    return await tx.fetchrow(_INSERT_SESSION, *values) is not None


async def revoke_token(tx: Tx, token_hash: bytes) -> asyncpg.Record | None:
    """End the session of a cookie; None when there is no such one."""
    return await tx.fetchrow(_REVOKE_COOKIE, token_hash)


async def revoke_session(tx: Tx, session_id: UUID, user_id: UUID) -> bool:
    """End one of a user's sessions."""
    return await tx.fetchrow(_REVOKE_ONE, session_id, user_id) is not None


async def revoke_sessions(tx: Tx, user_id: UUID) -> None:
    """End all sessions of a user."""
    await tx.execute(_REVOKE_ALL, user_id)


async def list_sessions(tx: Tx, user_id: UUID) -> Sequence[asyncpg.Record]:
    """List the live sessions of a user."""
    return await tx.fetch(_LIST, user_id)


async def mark_seen(database: Database, used: dict[UUID, str | None]) -> None:
    """Write that sessions were used just now."""
    await database.system_rows(_SEEN, list(used))


async def rehash(tx: Tx, user_id: UUID, new: str, old: str) -> None:
    """Store the same password under better parameters."""
    await tx.execute(_REHASH, user_id, new, old)


async def set_password(tx: Tx, user_id: UUID, password_hash: str) -> None:
    """Set a password whatever it was."""
    await tx.execute(_SET_PASSWORD, user_id, password_hash)


async def change_password(tx: Tx, user_id: UUID, new: str, old: str) -> bool:
    """Change a password that is still the one that was checked."""
    return await tx.fetchrow(_CHANGE_PASSWORD, user_id, new, old) is not None


async def insert_link(
    tx: Tx, token_hash: bytes, purpose: str, *, user_id: UUID | None = None, email: str | None = None
) -> asyncpg.Record:
    """Make a one-time link."""
    row = await tx.fetchrow(_INSERT_LINK, token_hash, purpose, user_id, email)
    assert row is not None
    return row


async def peek_link(database: Database, token_hash: bytes, purposes: list[str]) -> asyncpg.Record | None:
    """Look at a live link without using it."""
    return await database.global_row(_PEEK_LINK, token_hash, purposes)


async def use_link(tx: Tx, token_hash: bytes, purposes: list[str]) -> asyncpg.Record | None:
    """Use a link up; None when it is not live (any more). The clock is read after the row's lock."""
    await tx.execute(_LOCK_LINK, token_hash)
    return await tx.fetchrow(_USE_LINK, token_hash, purposes)


async def end_links(tx: Tx, user_id: UUID) -> None:
    """Use up what else could set this user's password."""
    await tx.execute(_END_LINKS, user_id)


async def forget_old(database: Database) -> None:
    """Delete links and sessions that ended long ago."""
    await database.system_rows(_FORGET)
