"""SQL of external identities. The table is global: the tenant is what it tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.kit.ids import new_id

if TYPE_CHECKING:
    from uuid import UUID

    import asyncpg

    from app.store.postgres import Database
    from app.store.tx import Tx

# The clock comes along, whether the identity is known or not: a token's times are judged by the database.
_FIND = """
SELECT t.now, i.id AS identity_id, p.*
  FROM (SELECT extract(epoch FROM clock_timestamp())::float8 AS now) t
  LEFT JOIN identities i ON i.issuer = $1 AND i.subject = $2
  LEFT JOIN principals p ON p.workspace_id = i.workspace_id AND p.user_id = i.user_id
"""

# One account of an issuer for each user: who is linked already is not handed to a second subject.
_LINK = """
WITH linked AS (
  INSERT INTO identities (id, issuer, subject, user_id, workspace_id)
  SELECT $1, $2, $3, u.id, w.id
    FROM users u JOIN workspaces w ON w.created_by = u.id AND w.kind = 'personal'
   WHERE lower(u.email) = lower($4)
  ON CONFLICT DO NOTHING
  RETURNING user_id, workspace_id
)
INSERT INTO account_audit (id, user_id, workspace_id, action, subject)
SELECT $5, user_id, workspace_id, 'identity.linked', $3 FROM linked
RETURNING user_id
"""

_INSERT = """
INSERT INTO identities (id, issuer, subject, user_id, workspace_id) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT DO NOTHING RETURNING id
"""


async def find(database: Database, issuer: str, subject: str) -> asyncpg.Record:
    """Read the clock, and what the principal of an identity needs; nulls where it is unknown or no member any more."""
    row = await database.global_row(_FIND, issuer, subject)
    assert row is not None
    return row


async def link(database: Database, issuer: str, subject: str, email: str) -> bool:
    """Bind a subject to the user of an address; False when there is no such user, or one with another subject."""
    return bool(await database.system_rows(_LINK, new_id(), issuer, subject, email, new_id()))


async def insert(tx: Tx, issuer: str, subject: str, user_id: UUID) -> bool:
    """Bind a subject to a user whose personal workspace is the transaction's; False when it is bound already."""
    return await tx.fetchrow(_INSERT, new_id(), issuer, subject, user_id, tx.workspace_id) is not None
