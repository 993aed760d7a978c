"""SQL of the outbox."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.kit.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    import asyncpg

    from app.store.postgres import Database
    from app.store.tx import Tx

_INSERT = "INSERT INTO mail_outbox (id, recipient, subject, body) VALUES ($1, $2, $3, $4)"

# A claim is a promise for some minutes: a worker that dies in between leaves the mail to the next one.
_CLAIM = """
UPDATE mail_outbox SET attempts = attempts + 1,
       next_at = clock_timestamp() + interval '1 minute' * power(2, least(attempts, 8))
 WHERE id IN (
  SELECT id FROM mail_outbox
   WHERE sent_at IS NULL AND next_at <= clock_timestamp() AND attempts < $1
   ORDER BY next_at LIMIT $2 FOR UPDATE SKIP LOCKED)
RETURNING id, recipient, subject, body, attempts
"""

# What was sent is not kept: it may hold a link that lets somebody in.
_SENT = "UPDATE mail_outbox SET sent_at = clock_timestamp(), body = '', error = NULL WHERE id = $1"
_FAILED = "UPDATE mail_outbox SET error = $2 WHERE id = $1"
_HELD = "UPDATE mail_outbox SET next_at = 'infinity', error = $2 WHERE id = $1"
_LIST = """
SELECT id, recipient, subject, body, created_at, sent_at, attempts, error
  FROM mail_outbox ORDER BY created_at DESC LIMIT $1
"""
_FORGET = "DELETE FROM mail_outbox WHERE created_at < clock_timestamp() - interval '7 days'"


async def insert(tx: Tx, recipient: str, subject: str, body: str) -> None:
    """Put a mail into the outbox."""
    await tx.execute(_INSERT, new_id(), recipient, subject, body)


async def claim(database: Database, max_attempts: int, count: int) -> Sequence[asyncpg.Record]:
    """Take mails that are due."""
    return await database.system_rows(_CLAIM, max_attempts, count)


async def mark_sent(database: Database, mail_id: UUID) -> None:
    """Note that a mail is on its way and forget its text."""
    await database.system_rows(_SENT, mail_id)


async def mark_failed(database: Database, mail_id: UUID, error: str) -> None:
    """Note why a mail could not be sent."""
    await database.system_rows(_FAILED, mail_id, error)


async def hold(database: Database, mail_id: UUID, error: str) -> None:
    """Leave a mail for the administrator to read."""
    await database.system_rows(_HELD, mail_id, error)


async def newest(database: Database, count: int) -> Sequence[asyncpg.Record]:
    """List the newest mails."""
    return await database.system_rows(_LIST, count)


async def forget_old(database: Database) -> None:
    """Delete what nobody needs any more."""
    await database.system_rows(_FORGET)
