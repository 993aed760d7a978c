"""Exact sliding-window rate limits: one Lua script a call, by the Redis clock; a local log when Redis is away."""

from __future__ import annotations

import logging
import secrets
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from redis.exceptions import NoScriptError, RedisError

from app.store.redis import Line

if TYPE_CHECKING:
    import redis.asyncio as redis

    from app.gate.policy import Limit

log = logging.getLogger(__name__)

# A sorted set of call times in microseconds. Exact: a call is counted only when it is allowed, and forgotten when it
# leaves the window.
_SCRIPT = """
local now = redis.call('TIME')
now = now[1] * 1000000 + now[2]
local window = tonumber(ARGV[2]) * 1000000
local limit = tonumber(ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - window)
local used = redis.call('ZCARD', KEYS[1])
if used < limit then
  redis.call('ZADD', KEYS[1], now, now .. ARGV[3])
  redis.call('PEXPIRE', KEYS[1], window / 1000 + 1000)
  return {1, limit - used - 1, window}
end
local oldest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
return {0, 0, (tonumber(oldest[2]) or now) + window - now}
"""
_MICROSECONDS = 1_000_000
_RETRY_REDIS_SECONDS = 2.0
_LOCAL_KEYS = 10_000


def _key(subject: str, family: str) -> str:
    return f"rate:{{{subject}}}:{family}"


@dataclass(frozen=True, slots=True)
class RateState:
    """The answer of the limiter: whether the call may go on, what remains, and seconds until it changes."""

    allowed: bool
    limit: int
    remaining: int
    reset_seconds: int


class Limiter:
    """Counts calls of a subject in a family; `redis=None` counts in this process only."""

    def __init__(self, client: redis.Redis | None) -> None:
        self._line = Line(client) if client is not None else None
        self._sha = ""
        self._away_until = 0.0
        self._local: dict[str, deque[float]] = {}

    async def spend(self, subject: str, family: str, limit: Limit) -> RateState:
        """Count one call of a subject, all of whose keys share one Redis hash slot."""
        key = _key(subject, family)
        if self._line is not None and time.monotonic() >= self._away_until:
            try:
                allowed, remaining, wait = await self._ask(key, limit)
                return RateState(bool(allowed), limit.count, int(remaining), -(-int(wait) // _MICROSECONDS))
            except (TimeoutError, RedisError, OSError) as error:
                self._away(error)
        return self._spend_locally(key, limit)

    async def give_back(self, subject: str, family: str) -> None:
        """Forget the newest call of a subject in a family: it turned out to be none that counts."""
        key = _key(subject, family)
        if self._line is not None and time.monotonic() >= self._away_until:
            try:
                await self._line.call("ZPOPMAX", key)
            except (TimeoutError, RedisError, OSError) as error:
                self._away(error)
            else:
                return
        if calls := self._local.get(key):
            calls.pop()

    async def aclose(self) -> None:
        """Close the connection to Redis."""
        if self._line is not None:
            await self._line.aclose()

    async def _ask(self, key: str, limit: Limit) -> list[int]:
        assert self._line is not None
        arguments = (1, key, limit.count, limit.seconds, secrets.token_hex(4))
        try:
            if self._sha:
                answer: list[int] = await self._line.call("EVALSHA", self._sha, *arguments)
                return answer
        except NoScriptError:
            pass  # Redis was restarted or flushed: load the script again
        self._sha = await self._line.call("SCRIPT LOAD", _SCRIPT)
        again: list[int] = await self._line.call("EVALSHA", self._sha, *arguments)
        return again

    def _away(self, error: Exception) -> None:
        self._away_until = time.monotonic() + _RETRY_REDIS_SECONDS
        log.warning("Redis is away (%s); limits are counted in this process", type(error).__name__)

    def _spend_locally(self, key: str, limit: Limit) -> RateState:
        now = time.monotonic()
        if len(self._local) > _LOCAL_KEYS:
            self._local.clear()
        calls = self._local.setdefault(key, deque())
        while calls and calls[0] <= now - limit.seconds:
            calls.popleft()
        if len(calls) < limit.count:
            calls.append(now)
            return RateState(
                allowed=True, limit=limit.count, remaining=limit.count - len(calls), reset_seconds=limit.seconds
            )
        wait = (calls[0] if calls else now) + limit.seconds - now
        return RateState(allowed=False, limit=limit.count, remaining=0, reset_seconds=max(1, int(wait) + 1))
