"""The Redis client; nothing in Redis is needed for correctness."""

from __future__ import annotations

import redis.asyncio as redis
from redis.backoff import NoBackoff
from redis.retry import Retry

TIMEOUT_SECONDS = 0.25
"""A limiter that waits longer costs more than the local fallback loses."""


def connect(url: str) -> redis.Redis:
    """Make a client that gives up fast; connections open on first use."""
    client: redis.Redis = redis.Redis.from_url(
        url,
        socket_timeout=TIMEOUT_SECONDS,
        socket_connect_timeout=TIMEOUT_SECONDS,
        retry=Retry(NoBackoff(), 1),
        max_connections=32,
    )
    return client
