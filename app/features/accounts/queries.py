"""SQL of users and workspaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.kit.ids import new_id

if TYPE_CHECKING:
    from uuid import UUID

    import asyncpg

    from app.gate.operation import Context
    from app.store.postgres import Database
    from app.store.tx import Tx

_ME = """
SELECT u.id, u.name, u.email, u.external_id, w.name AS workspace_name
  FROM users u, workspaces w
 WHERE u.id = $2 AND w.id = $1
"""

_INSERT_USER = """
WITH person AS (
  INSERT INTO users (id, email, name) VALUES ($1, $2, $3)
  ON CONFLICT (lower(email)) DO NOTHING
  RETURNING id
), place AS (
  INSERT INTO workspaces (id, name, kind, created_by)
  SELECT $4, $5, 'personal', id FROM person
  RETURNING id, created_by
)
INSERT INTO memberships (workspace_id, user_id, role)
SELECT id, created_by, 'owner' FROM place
RETURNING user_id, workspace_id
"""

_GET_USER = """
SELECT u.id AS user_id, w.id AS workspace_id
  FROM users u JOIN workspaces w ON w.created_by = u.id AND w.kind = 'personal'
 WHERE lower(u.email) = lower($1)
"""


async def get_me(tx: Tx, user_id: UUID) -> asyncpg.Record | None:
    """Read a user with the workspace of the transaction."""
    return await tx.fetchrow(_ME, tx.workspace_id, user_id)


_INSERT_AUDIT = """
INSERT INTO account_audit (id, user_id, workspace_id, action, subject, address) VALUES ($1, $2, $3, $4, $5, $6)
"""

_INSERT_CALL = """
INSERT INTO account_audit (id, user_id, workspace_id, action, subject, grant_id, agent, operation, request_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
"""


async def insert_audit(
    tx: Tx, action: str, user_id: UUID | None, workspace_id: UUID | None, subject: str | None, address: str | None
) -> None:
    """Add a line to the trail of accounts."""
    await tx.execute(_INSERT_AUDIT, new_id(), user_id, workspace_id, action, subject, address)


async def insert_call(ctx: Context, action: str, workspace_id: UUID | None, subject: str | None) -> None:
    """Add a line with the call that did it."""
    who = ctx.principal
    by = (who.grant_id, who.agent, ctx.operation, ctx.request_id)
    await ctx.tx.execute(_INSERT_CALL, new_id(), who.user_id, workspace_id, action, subject, *by)


async def insert_person(tx: Tx, user_id: UUID, email: str, name: str) -> bool:
    """Insert a user whose personal workspace is the transaction's; False when the address is taken."""
    values = (user_id, email, name, tx.workspace_id, f"{name}'s workspace")
    return await tx.fetchrow(_INSERT_USER, *values) is not None


async def insert_user(
    database: Database, user_id: UUID, email: str, name: str, workspace_id: UUID
) -> asyncpg.Record | None:
    """Insert a user with a personal workspace; None when the address is taken."""
    rows = await database.system_rows(_INSERT_USER, user_id, email, name, workspace_id, f"{name}'s workspace")
    return rows[0] if rows else None


async def get_user(database: Database, email: str) -> asyncpg.Record | None:
    """Read a user and the personal workspace by address."""
    rows = await database.system_rows(_GET_USER, email)
    return rows[0] if rows else None
