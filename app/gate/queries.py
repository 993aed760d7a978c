"""SQL of the gate: receipts, and the statement that ends every command."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any

import asyncpg
import pydantic_core

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

_GET_LIVE_RECEIPT = f"{_GET_RECEIPT} AND created_at > clock_timestamp() - interval '24 hours'"


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


async def get_live_receipt(tx: Tx, key: ReceiptKey) -> asyncpg.Record | None:
    """Read a receipt that was written under an earlier secret, if it is still kept."""
    return await tx.fetchrow(_GET_LIVE_RECEIPT, tx.workspace_id, key.user_id, key.grant_id, key.digest)


def finish(ctx: Context, key: ReceiptKey | None, body: bytes) -> str:
    """Write the statement that stores events, audit lines, jobs and the receipt's body; it travels with COMMIT."""
    if not (ctx.events or ctx.jobs or key):
        return ""
    payload: dict[str, Any] = ctx.call(*ctx.jobs) | {"events": ctx.events}
    if key:
        payload |= {"key": b64encode(key.digest), "body": b64encode(body)}
    return f"SELECT gate_finish({literal(pydantic_core.to_json(payload))})"
