"""Idempotency receipts: the stored answer of a write, found before anything else is done (invariants R1 to R8).

The row is inserted first in the transaction of the effect, so that a twin waits for it, and a crash leaves nothing.
"""

from __future__ import annotations

import hashlib
import secrets
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from app.gate import queries
from app.kit.errors import Gone, IdempotencyInProgress, IdempotencyKeyReused, InvalidRequest
from app.kit.secrets import keyed_digest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    import asyncpg

    from app.gate.operation import Context, Operation
    from app.gate.principal import Principal
    from app.kit.schema import Model
    from app.store.tx import Tx

MAX_KEY_LENGTH = 255
_RETRY_SECONDS = 1
_NONCE_BYTES = 12


@dataclass(frozen=True, slots=True)
class ReceiptKey:
    """Whose key, and for what request."""

    user_id: UUID
    grant_id: UUID
    digest: bytes
    fingerprint: bytes
    seal: bytes = field(repr=False)
    """Encrypts the stored answer: it derives from the key's text, which is stored nowhere."""


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
        keyed_digest(secret_key, "receipt body", key),
    )


def in_progress() -> IdempotencyInProgress:
    """Say that a twin has held the key for longer than the lock timeout."""
    msg = "A request with this Idempotency-Key is still running; send the same request again shortly."
    return IdempotencyInProgress(msg, retry_after=_RETRY_SECONDS)


async def stored_answer(tx: Tx, keys: Sequence[ReceiptKey]) -> bytes | None:
    """Return the stored body of the same request; None when this transaction's opening claimed the first key.

    Further keys are the same key under earlier secrets.

    Raises:
        IdempotencyKeyReused: the key belongs to another request.
    """
    if not queries.receipt_claimed(tx):
        return _stored(await queries.get_receipt(tx, keys[0]), keys[0])
    for earlier in keys[1:]:
        if (row := await queries.get_live_receipt(tx, earlier)) is not None:
            return _stored(row, earlier)
    return None


def renewed(ctx: Context, keys: Sequence[ReceiptKey], stored: bytes) -> str:
    """Write the statement that keeps an answer of an earlier secret under the present one, if it was just claimed."""
    if not queries.receipt_claimed(ctx.tx):
        return ""
    return queries.finish(ctx, keys[0], pack(stored, keys[0]))


def _stored(row: asyncpg.Record, key: ReceiptKey) -> bytes:
    if row["fingerprint"] != key.fingerprint:
        msg = "This Idempotency-Key was used for another request; send this one with a new key."
        raise IdempotencyKeyReused(msg)
    if row["body"] is None:
        msg = "This request was carried out before, and what it was about has been removed for good since."
        raise Gone(msg)
    return unpack(row["body"], key)


def pack(body: bytes, key: ReceiptKey) -> bytes:
    """Compress and encrypt an answer for storage: it may hold a secret that was shown once."""
    nonce = secrets.token_bytes(_NONCE_BYTES)
    return nonce + AESGCM(key.seal).encrypt(nonce, zlib.compress(body, 1), key.digest)


def unpack(packed: bytes, key: ReceiptKey) -> bytes:
    """Give a stored answer back."""
    return zlib.decompress(AESGCM(key.seal).decrypt(packed[:_NONCE_BYTES], packed[_NONCE_BYTES:], key.digest))
