"""Answers that a browser comes back to, kept in Redis for an hour: asking again would cost again, and may differ.

What is kept is sealed by the token in the answer's address, which is stored nowhere. Nothing depends on it: while Redis
is away, an answer is shown once.
"""

from __future__ import annotations

import logging
import secrets
import zlib
from typing import TYPE_CHECKING, Final

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from redis.exceptions import RedisError

from app.kit.secrets import keyed_digest
from app.store.redis import Line

if TYPE_CHECKING:
    import redis.asyncio as redis

    from app.gate.principal import Principal

log = logging.getLogger(__name__)

KEPT_SECONDS: Final = 3600
_TOKEN_BYTES: Final = 24
_NONCE_BYTES: Final = 12
_AWAY: Final = (RedisError, OSError, TimeoutError)


class KeptAnswers:
    """The answers of all visitors; each is known to its browser session alone."""

    def __init__(self, client: redis.Redis | None) -> None:
        self._line = Line(client) if client is not None else None

    async def keep(self, principal: Principal, answer: bytes) -> str | None:
        """Keep an answer for an hour; gives the token that finds it, None when nothing can be kept just now."""
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = nonce + _seal(token).encrypt(nonce, zlib.compress(answer, 1), None)
        return token if await self._call("SET", _key(principal, token), sealed, "EX", KEPT_SECONDS) else None

    async def find(self, principal: Principal, token: str) -> bytes | None:
        """Give an answer back; None when it is not known (any more), or another session's."""
        sealed = await self._call("GET", _key(principal, token))
        if sealed is None:
            return None
        return zlib.decompress(_seal(token).decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], None))

    async def aclose(self) -> None:
        """Close the connection."""
        if self._line is not None:
            await self._line.aclose()

    async def _call(self, *command: str | bytes | int) -> bytes | None:
        if self._line is None:
            return None
        try:
            answer: bytes | None = await self._line.call(*command)
        except _AWAY as error:
            log.warning("Redis is away (%s); answers are not kept", type(error).__name__)
            return None
        return answer


def _seal(token: str) -> AESGCM:
    return AESGCM(keyed_digest(token, "answer", "seal"))


def _key(principal: Principal, token: str) -> str:
    name = keyed_digest(token, "answer", "name").hex()
    return f"answers:{principal.workspace_id}:{principal.grant_id}:{name}"
