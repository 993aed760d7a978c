"""Idempotency receipts: the stored answer of a write, found before anything else is done (invariants R1 to R8).

The row is inserted first in the transaction of the effect, so that a twin waits for it, and a crash leaves nothing.
"""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.gate import queries
from app.kit.errors import IdempotencyInProgress, IdempotencyKeyReused, InvalidRequest
from app.kit.secrets import keyed_digest

if TYPE_CHECKING:
    from uuid import UUID

    from app.gate.operation import Operation
    from app.gate.principal import Principal
    from app.kit.schema import Model
    from app.store.tx import Tx

MAX_KEY_LENGTH = 255
_RETRY_SECONDS = 1


@dataclass(frozen=True, slots=True)
class ReceiptKey:
    """Whose key, and for what request."""

    user_id: UUID
    grant_id: UUID
    digest: bytes
    fingerprint: bytes


def normalize_key(header: str) -> str:
    """Read an `Idempotency-Key`, quoted (structured field) or bare.

    Raises:
        InvalidRequest: empty, longer than 255 characters, or with characters outside visible ASCII.
    """
    key = header.strip()
    if len(key) > 1 and key[0] == key[-1] == '"':
        key = key[1:-1]
    if not key or len(key) > MAX_KEY_LENGTH or not all(" " <= character <= "~" for character in key):
        msg = f"Idempotency-Key must be 1 to {MAX_KEY_LENGTH} visible ASCII characters; a UUID is a good choice."
        raise InvalidRequest(msg, details=[{"field": "Idempotency-Key", "message": msg}])
    return key


def receipt_key(
    secret_key: str, principal: Principal, operation: Operation[Any, Any], args: Model, key: str
) -> ReceiptKey:
    """Scope a key by user and grant, and digest the request: operation, canonical arguments, precondition, lease."""
    canonical = b"\x00".join([operation.name.encode(), args.to_json()])
    return ReceiptKey(
        principal.user_id,
        principal.grant_id,
        keyed_digest(secret_key, "receipt", key),
        hashlib.sha256(canonical).digest(),
    )


def in_progress() -> IdempotencyInProgress:
    """Say that a twin has held the key for longer than the lock timeout."""
    msg = "A request with this Idempotency-Key is still running; send the same request again shortly."
    return IdempotencyInProgress(msg, retry_after=_RETRY_SECONDS)


async def stored_answer(tx: Tx, key: ReceiptKey) -> bytes | None:
    """Return the stored body of the same request; None when this transaction's opening claimed the key.

    Raises:
        IdempotencyKeyReused: the key belongs to another request.
    """
    if queries.receipt_claimed(tx):
        return None
    row = await queries.get_receipt(tx, key)
    if row["fingerprint"] != key.fingerprint:
        msg = "This Idempotency-Key was used for another request; send this one with a new key."
        raise IdempotencyKeyReused(msg)
    return zlib.decompress(row["body"])


def pack(body: bytes) -> bytes:
    """Compress an answer for storage."""
    return zlib.compress(body, 1)
