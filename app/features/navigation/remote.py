"""Search sessions: what a caller was already shown, kept in Redis for an hour after the last use.

A session is a string of 16 bytes for each chunk: reading it renews its time and adding to it is atomic, each in one
command. Nothing depends on it: while Redis is away searches go on and repeat themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from uuid import UUID

from app.store.redis import Volatile

if TYPE_CHECKING:
    from collections.abc import Iterable

    import redis.asyncio as redis

    from app.gate.principal import Principal

SESSION_SECONDS: Final = 3600
_ID_BYTES: Final = 16
MAX_SEEN: Final = 20_000
"""A session that knows so many remembers no more; later ones may come again. One search may show 10,000 copies."""


class Sessions:
    """The sessions of all callers; each is known to its grant alone."""

    def __init__(self, client: redis.Redis | None) -> None:
        self._line = Volatile(client, "searches do not remember what they showed")

    async def begin(self, principal: Principal, session_id: UUID, shown: Iterable[UUID] = ()) -> bool:
        """Begin a session with what it has shown; False when sessions cannot be kept just now."""
        return (
            await self._line.call("SET", _key(principal, session_id), _packed(shown), "EX", SESSION_SECONDS) is not None
        )

    async def seen(self, principal: Principal, session_id: UUID) -> list[UUID] | None:
        """List what a session has shown and keep it for another hour; None when it is not known (any more)."""
        found = await self._line.call("GETEX", _key(principal, session_id), "EX", SESSION_SECONDS)
        if found is None:
            return None
        return [UUID(bytes=found[at : at + _ID_BYTES]) for at in range(0, len(found), _ID_BYTES)]

    async def add(self, principal: Principal, session_id: UUID, shown: Iterable[UUID]) -> None:
        """Note that a session, which was read just now, has shown more."""
        await self._line.call("APPEND", _key(principal, session_id), _packed(shown))

    async def aclose(self) -> None:
        """Close the connection."""
        await self._line.aclose()


def _key(principal: Principal, session_id: UUID) -> str:
    return f"passages:{principal.workspace_id}:{principal.grant_id}:{session_id}"


def _packed(ids: Iterable[UUID]) -> bytes:
    return b"".join(item.bytes for item in ids)
