"""SQL of workspaces, members and invites. Only `workspaces` has a policy (by its own id); the others are global."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from collections.abc import Sequence

    import asyncpg

    from app.gate.policy import Role
    from app.store.postgres import Database
    from app.store.tx import Tx

After = tuple[datetime, UUID] | None
_START = (None, None)
INVITES_A_DAY = 100

_LIST = """
SELECT w.id, w.name, w.kind, m.role, w.created_at,
       (SELECT name FROM users WHERE id = w.created_by AND w.kind = 'personal' AND id <> $1) AS owner
  FROM memberships m JOIN workspaces w ON w.id = m.workspace_id
 WHERE m.user_id = $1 AND ($2::uuid IS NULL OR w.id = $2)
   AND ($3::timestamptz IS NULL OR (w.created_at, w.id) < ($3, $4::uuid))
 ORDER BY w.created_at DESC, w.id DESC LIMIT $5
"""

_INSERT = "INSERT INTO workspaces (id, name, kind, created_by) VALUES ($1, $2, 'shared', $3) RETURNING created_at"
_INSERT_OWNER = "INSERT INTO memberships (workspace_id, user_id, role) VALUES ($1, $2, 'owner')"

_RENAME = """
UPDATE workspaces w SET name = $2
 WHERE w.id = $1
   AND EXISTS (SELECT FROM memberships m WHERE m.workspace_id = $1 AND m.user_id = $3 AND m.role = 'owner')
RETURNING id, name, kind, created_at
"""

_ROLE = "SELECT role FROM memberships WHERE workspace_id = $1 AND user_id = $2"

_SWITCH = """
UPDATE browser_sessions s SET workspace_id = $1
 WHERE s.id = $2 AND s.user_id = $3 AND s.revoked_at IS NULL
   AND EXISTS (SELECT FROM memberships m WHERE m.workspace_id = $1 AND m.user_id = $3)
RETURNING id
"""

_MEMBERS = """
SELECT u.id, u.name, u.email, m.role, m.created_at
  FROM memberships m JOIN users u ON u.id = m.user_id
 WHERE m.workspace_id = $1
   AND EXISTS (SELECT FROM memberships me WHERE me.workspace_id = $1 AND me.user_id = $2)
   AND ($3::timestamptz IS NULL OR (m.created_at, u.id) < ($3, $4::uuid))
 ORDER BY m.created_at DESC, u.id DESC LIMIT $5
"""

# Whoever may end up as the last owner is locked, always in one order; the write after it sees what is true then.
_LOCK_OWNERS = """
SELECT user_id FROM memberships WHERE workspace_id = $1 AND role = 'owner' ORDER BY user_id FOR UPDATE
"""

# Of the target: an owner stays while there is no other; a personal workspace keeps its person as owner.
_MAY_LOSE = """
  (m.role <> 'owner' OR (
    EXISTS (SELECT FROM memberships o WHERE o.workspace_id = $1 AND o.role = 'owner' AND o.user_id <> $2)
    AND NOT EXISTS (SELECT FROM workspaces w WHERE w.id = $1 AND w.kind = 'personal' AND w.created_by = $2)))
"""
_IS_OWNER = "EXISTS (SELECT FROM memberships a WHERE a.workspace_id = $1 AND a.user_id = $3 AND a.role = 'owner')"

_CHANGE = f"""
UPDATE memberships m SET role = $4
 WHERE m.workspace_id = $1 AND m.user_id = $2 AND {_IS_OWNER} AND ($4 = 'owner' OR {_MAY_LOSE})
RETURNING m.role
"""

_REMOVE = f"""
DELETE FROM memberships m
 WHERE m.workspace_id = $1 AND m.user_id = $2 AND ($2 = $3 OR {_IS_OWNER}) AND {_MAY_LOSE}
RETURNING m.user_id
"""

# What the member held in the workspace ends with the membership, so that a later one does not bring it back.
_END_ACCESS = """
WITH keys AS (
  UPDATE credentials SET revoked_at = clock_timestamp()
   WHERE workspace_id = $1 AND user_id = $2 AND revoked_at IS NULL
), grants AS (
  UPDATE oauth_grants SET revoked_at = clock_timestamp()
   WHERE workspace_id = $1 AND user_id = $2 AND revoked_at IS NULL
)
UPDATE browser_sessions SET workspace_id = $3 WHERE workspace_id = $1 AND user_id = $2
"""
_PERSONAL = "SELECT id FROM workspaces WHERE created_by = $1 AND kind = 'personal'"

_INSERT_INVITE = """
INSERT INTO one_time_links (token_hash, id, purpose, email, workspace_id, role, created_by, expires_at)
SELECT $3, $4, 'invite', $5, $1, $6, $2, clock_timestamp() + make_interval(days => $7)
 WHERE EXISTS (SELECT FROM memberships a WHERE a.workspace_id = $1 AND a.user_id = $2 AND a.role = 'owner')
   AND (SELECT count(*) FROM one_time_links o
         WHERE o.workspace_id = $1 AND o.purpose = 'invite'
           AND o.created_at > clock_timestamp() - interval '1 day') < $8
   AND NOT EXISTS (SELECT FROM memberships m JOIN users u ON u.id = m.user_id
                    WHERE m.workspace_id = $1 AND lower(u.email) = lower($5))
RETURNING id, email, role, created_at, expires_at
"""

_MEMBER_BY_EMAIL = """
SELECT m.user_id, m.role FROM memberships m JOIN users u ON u.id = m.user_id
 WHERE m.workspace_id = $1 AND lower(u.email) = lower($2)
"""

_OPEN = "purpose = 'invite' AND used_at IS NULL AND expires_at > clock_timestamp()"
_INVITES = f"""
SELECT id, email, role, created_at, expires_at FROM one_time_links
 WHERE workspace_id = $1 AND {_OPEN} AND ($2::timestamptz IS NULL OR (created_at, id) < ($2, $3::uuid))
 ORDER BY created_at DESC, id DESC LIMIT $4
"""
_CANCEL = f"""
UPDATE one_time_links SET used_at = clock_timestamp()
 WHERE workspace_id = $1 AND id = $2 AND {_OPEN}
   AND EXISTS (SELECT FROM memberships a WHERE a.workspace_id = $1 AND a.user_id = $3 AND a.role = 'owner')
RETURNING id
"""

# For whom it was meant, as long as whoever invited is an owner still.
_ACCEPTABLE = f"""
 token_hash = $1 AND {_OPEN}
   AND EXISTS (SELECT FROM memberships a
                WHERE a.workspace_id = one_time_links.workspace_id AND a.user_id = one_time_links.created_by
                  AND a.role = 'owner')
"""
_LOCK_INVITE = "SELECT 1 FROM one_time_links WHERE token_hash = $1 FOR UPDATE"
_ACCEPT = f"""
WITH used AS (
  UPDATE one_time_links SET used_at = clock_timestamp()
   WHERE {_ACCEPTABLE} AND lower(email) = (SELECT lower(email) FROM users WHERE id = $2)
  RETURNING workspace_id, role
), joined AS (
  INSERT INTO memberships (workspace_id, user_id, role) SELECT workspace_id, $2, role FROM used
  ON CONFLICT DO NOTHING
)
SELECT u.workspace_id, coalesce(m.role, u.role) AS role
  FROM used u LEFT JOIN memberships m ON m.workspace_id = u.workspace_id AND m.user_id = $2
"""
_PEEK = f"""
SELECT l.email, l.role, w.name AS workspace_name, u.name AS inviter,
       EXISTS (SELECT FROM users k WHERE lower(k.email) = lower(l.email)) AS has_account
  FROM (SELECT * FROM one_time_links WHERE {_ACCEPTABLE}) l
  JOIN workspaces w ON w.id = l.workspace_id
  JOIN users u ON u.id = l.created_by
"""


async def list_workspaces(
    database: Database, user_id: UUID, only: UUID | None, after: After, limit: int
) -> Sequence[asyncpg.Record]:
    """List the workspaces that a user is a member of, or `only` one of them, the newest first."""
    return await database.system_rows(_LIST, user_id, only, *(after or _START), limit)


async def insert_workspace(tx: Tx, workspace_id: UUID, name: str, user_id: UUID) -> asyncpg.Record:
    """Insert a shared workspace with its first owner."""
    async with tx.of_workspace(workspace_id):
        row = await tx.fetchrow(_INSERT, workspace_id, name, user_id)
        assert row is not None
    await tx.execute(_INSERT_OWNER, workspace_id, user_id)
    return row


async def rename_workspace(tx: Tx, workspace_id: UUID, name: str, actor_id: UUID) -> asyncpg.Record | None:
    """Rename a workspace whose owner the actor is."""
    async with tx.of_workspace(workspace_id):
        return await tx.fetchrow(_RENAME, workspace_id, name, actor_id)


async def role_of(tx: Tx, workspace_id: UUID, user_id: UUID) -> str | None:
    """Tell a user's role; None for who is no member."""
    role: str | None = await tx.fetchval(_ROLE, workspace_id, user_id)
    return role


async def switch(tx: Tx, workspace_id: UUID, session_id: UUID, user_id: UUID) -> bool:
    """Make a workspace of the user current in a browser session."""
    return await tx.fetchrow(_SWITCH, workspace_id, session_id, user_id) is not None


async def list_members(
    tx: Tx, workspace_id: UUID, actor_id: UUID, after: After, limit: int
) -> Sequence[asyncpg.Record]:
    """List members, who joined last first, after a cursor; nothing for who is none of them."""
    return await tx.fetch(_MEMBERS, workspace_id, actor_id, *(after or _START), limit)


async def change_member(tx: Tx, workspace_id: UUID, user_id: UUID, actor_id: UUID, role: Role) -> bool:
    """Give a member another role; False when a condition does not hold."""
    async with tx.of_workspace(workspace_id):
        await tx.execute(_LOCK_OWNERS, workspace_id)
        return await tx.fetchrow(_CHANGE, workspace_id, user_id, actor_id, role.value) is not None


async def remove_member(tx: Tx, workspace_id: UUID, user_id: UUID, actor_id: UUID, personal_id: UUID | None) -> bool:
    """Remove a member with all that the membership gave; False when a condition does not hold."""
    async with tx.of_workspace(workspace_id):
        await tx.execute(_LOCK_OWNERS, workspace_id)
        if await tx.fetchrow(_REMOVE, workspace_id, user_id, actor_id) is None:
            return False
        await tx.execute(_END_ACCESS, workspace_id, user_id, personal_id)
        return True


async def personal_workspace(database: Database, user_id: UUID) -> UUID | None:
    """Tell the id of a user's personal workspace."""
    rows = await database.system_rows(_PERSONAL, user_id)
    return rows[0]["id"] if rows else None


async def insert_invite(
    tx: Tx,
    workspace_id: UUID,
    actor_id: UUID,
    token_hash: bytes,
    invite_id: UUID,
    *,
    email: str,
    role: Role,
    days: int,
) -> asyncpg.Record | None:
    """Insert an invite of an owner; None when the actor is none, who is invited a member, or the day's number spent."""
    values = (token_hash, invite_id, email, role.value, days, INVITES_A_DAY)
    return await tx.fetchrow(_INSERT_INVITE, workspace_id, actor_id, *values)


async def member_by_email(tx: Tx, workspace_id: UUID, email: str) -> asyncpg.Record | None:
    """Find the member whose address this is, in whatever case."""
    return await tx.fetchrow(_MEMBER_BY_EMAIL, workspace_id, email)


async def list_invites(tx: Tx, workspace_id: UUID, after: After, limit: int) -> Sequence[asyncpg.Record]:
    """List the open invites of a workspace, the newest first, after a cursor."""
    return await tx.fetch(_INVITES, workspace_id, *(after or _START), limit)


async def cancel_invite(tx: Tx, workspace_id: UUID, invite_id: UUID, actor_id: UUID) -> bool:
    """Take an open invite back; False when there is no such one, or the actor is no owner."""
    return await tx.fetchrow(_CANCEL, workspace_id, invite_id, actor_id) is not None


async def accept_invite(tx: Tx, token_hash: bytes, user_id: UUID) -> asyncpg.Record | None:
    """Use an invite up and join; None when it is not open, or for another address."""
    await tx.execute(_LOCK_INVITE, token_hash)
    return await tx.fetchrow(_ACCEPT, token_hash, user_id)


async def peek_invite(database: Database, token_hash: bytes) -> asyncpg.Record | None:
    """Look at an open invite without using it."""
    rows = await database.system_rows(_PEEK, token_hash)
    return rows[0] if rows else None
