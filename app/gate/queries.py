"""SQL of the gate: receipts, and the one statement that ends every command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import asyncpg

from app.store.jobs import enqueue_args, enqueue_with
from app.store.tx import literal

if TYPE_CHECKING:
    from uuid import UUID

    from app.gate.operation import Context
    from app.gate.replay import ReceiptKey
    from app.store.tx import Tx

# An expired receipt is taken over in place; a live one is locked and left as it is.
_CLAIM_RECEIPT = """
INSERT INTO receipts AS r (workspace_id, user_id, grant_id, key_digest, fingerprint, body, created_at)
VALUES ({values}, NULL, clock_timestamp())
ON CONFLICT (workspace_id, user_id, grant_id, key_digest) DO UPDATE
   SET fingerprint = excluded.fingerprint, body = NULL, created_at = excluded.created_at
 WHERE r.created_at <= clock_timestamp() - interval '24 hours'
"""
_CLAIMED = "INSERT 0 1"

_GET_RECEIPT = """
SELECT fingerprint, body FROM receipts
 WHERE workspace_id = $1 AND user_id = $2 AND grant_id = $3 AND key_digest = $4
"""


_CHANGES = """
changes AS MATERIALIZED (
  SELECT topic, object_id, revision, ord
    FROM unnest($12::text[], $13::uuid[], $14::int[]) WITH ORDINALITY AS c(topic, object_id, revision, ord)
), logged_events AS (
  INSERT INTO events (workspace_id, epoch, xid, id, topic, object_id, revision)
  SELECT $7::uuid, (SELECT max(epoch) FROM event_epochs), pg_current_xact_id(), gen_random_uuid(), topic, object_id,
         revision
    FROM changes
), audited AS (
  INSERT INTO audit (workspace_id, id, user_id, grant_id, operation, topic, object_id, revision, request_id, agent)
  SELECT $7::uuid, gen_random_uuid(), $8::uuid, $9::uuid, $10::text, topic, object_id, revision, $11::text, $17::text
    FROM changes
), receipt AS (
  UPDATE receipts SET body = $15::bytea
   WHERE $15::bytea IS NOT NULL
     AND workspace_id = $7::uuid AND user_id = $8::uuid AND grant_id = $9::uuid AND key_digest = $16::bytea
)"""

_FINISH = enqueue_with(_CHANGES)


def claim_receipt(workspace_id: UUID, key: ReceiptKey) -> str:
    """Write the statement that inserts the receipt's row, waiting for a twin; it travels with BEGIN."""
    values: tuple[UUID | bytes, ...] = (workspace_id, key.user_id, key.grant_id, key.digest, key.fingerprint)
    return _CLAIM_RECEIPT.format(values=", ".join(map(literal, values)))


def receipt_claimed(tx: Tx) -> bool:
    """Tell whether the opening statement took the receipt; otherwise a live one is there."""
    return tx.opening_tag == _CLAIMED


async def get_receipt(tx: Tx, key: ReceiptKey) -> asyncpg.Record:
    """Read the live receipt that `claim_receipt` ran into."""
    row = await tx.fetchrow(_GET_RECEIPT, tx.workspace_id, key.user_id, key.grant_id, key.digest)
    assert row is not None
    return row


async def finish(ctx: Context, operation: str, key: ReceiptKey | None, body: bytes | None) -> None:
    """Write events, audit lines, jobs and the receipt's body in one statement."""
    if not (ctx.events or ctx.jobs or key):
        return
    values: tuple[Any, ...] = (
        ctx.workspace_id,
        ctx.principal.user_id,
        ctx.principal.grant_id,
        operation,
        ctx.request_id,
        [event.topic for event in ctx.events],
        [event.object_id for event in ctx.events],
        [event.revision for event in ctx.events],
        body,
        key.digest if key else None,
        ctx.principal.agent,
    )
    await ctx.tx.fetch(_FINISH, *enqueue_args(ctx.jobs), *values)
