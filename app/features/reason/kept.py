"""Answers that a browser comes back to, kept in Redis for an hour: asking again would cost again, and may differ.

What is kept is sealed by the token in the answer's address, which is stored nowhere. Nothing depends on it: while Redis
is away, an answer is shown once.
"""

from __future__ import annotations

import secrets
import zlib
from typing import TYPE_CHECKING, Final

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from app.kit.secrets import keyed_digest
from app.store.redis import Volatile

if TYPE_CHECKING:
    import redis.asyncio as redis

    from app.gate.principal import Principal

KEPT_SECONDS: Final = 3600
_TOKEN_BYTES: Final = 24
_NONCE_BYTES: Final = 12


class KeptAnswers:
    """The answers of all visitors; each is known to its browser session alone."""

    def __init__(self, client: redis.Redis | None) -> None:
        self._line = Volatile(client, "answers are not kept")

    async def keep(self, principal: Principal, answer: bytes) -> str | None:
        """Keep an answer for an hour; gives the token that finds it, None when nothing can be kept just now."""
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = nonce + _seal(token).encrypt(nonce, zlib.compress(answer, 1), None)
        return token if await self._line.call("SET", _key(principal, token), sealed, "EX", KEPT_SECONDS) else None

    async def find(self, principal: Principal, token: str) -> bytes | None:
        """Give an answer back; None when it is not known (any more), or another session's."""
        sealed = await self._line.call("GET", _key(principal, token))
        if sealed is None:
            return None
        return zlib.decompress(_seal(token).decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], None))

    async def aclose(self) -> None:
        """Close the connection."""
        await self._line.aclose()


def _seal(token: str) -> AESGCM:
    return AESGCM(keyed_digest(token, "answer", "seal"))


def _key(principal: Principal, token: str) -> str:
    name = keyed_digest(token, "answer", "name").hex()
    return f"answers:{principal.workspace_id}:{principal.grant_id}:{name}"
