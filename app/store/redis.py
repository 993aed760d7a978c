"""The Redis client, and one shared line for short calls; nothing in Redis is needed for correctness."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from typing import Any

import redis.asyncio as redis
from redis.asyncio.connection import AbstractConnection
from redis.backoff import NoBackoff
from redis.exceptions import RedisError, ResponseError
from redis.retry import Retry

log = logging.getLogger(__name__)

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


class _Wire:
    """An open connection and the calls that wait on it, oldest first."""

    def __init__(self, connection: AbstractConnection) -> None:
        self.connection = connection
        self.waiting: deque[asyncio.Future[Any]] = deque()
        self.reader = asyncio.create_task(self._read(), name="redis-line")

    @property
    def sound(self) -> bool:
        """Whether a command that is sent now can be answered."""
        return not self.reader.done() and self.connection.is_connected

    async def _read(self) -> None:
        try:
            while True:
                try:
                    answer, error = await self.connection.read_response(disconnect_on_error=False), None
                except ResponseError as refused:
                    answer, error = None, refused
                if (reply := self.waiting.popleft()).done():
                    continue  # its caller has gone
                if error is None:
                    reply.set_result(answer)
                else:
                    reply.set_exception(error)
        except (RedisError, OSError, EOFError) as error:
            self._fail(error)
        finally:
            self._fail(redis.ConnectionError("the connection was closed"))
            await self.connection.disconnect(nowait=True)

    def _fail(self, error: Exception) -> None:
        while self.waiting:
            if not (reply := self.waiting.popleft()).done():
                reply.set_exception(error)


class Line:
    """One connection that all callers share: commands go out as they come, replies return in the same order.

    The client's pool lends every call a connection and guards each read and write with a timer of its own; for calls
    this short that costs several times the call. A line that broke, or was silent for too long, is opened anew.
    """

    def __init__(self, client: redis.Redis) -> None:
        self._pool = client.connection_pool
        self._wire: _Wire | None = None
        self._opening = asyncio.Lock()

    async def call(self, *command: str | bytes | int) -> Any:
        """Send a command and wait for its reply.

        Raises:
            RedisError, OSError: the server is away or silent, or refuses the command.
        """
        wire = self._wire
        if wire is None or not wire.sound:
            async with asyncio.timeout(TIMEOUT_SECONDS):  # of each caller, whoever it is that opens the line
                wire = await self._open()
        loop = asyncio.get_running_loop()
        reply: asyncio.Future[Any] = loop.create_future()
        wire.waiting.append(reply)
        timer = loop.call_later(TIMEOUT_SECONDS, wire.reader.cancel)
        try:
            await wire.connection.send_packed_command(wire.connection.pack_command(*command), check_health=False)
            return await reply
        finally:
            timer.cancel()
            if not reply.cancel() and not reply.cancelled():
                reply.exception()  # it is the caller's already, or lost with the command that could not be sent

    async def _open(self) -> _Wire:
        async with self._opening:
            if self._wire is not None and self._wire.sound:
                return self._wire
            options = self._pool.connection_kwargs | {"socket_timeout": None}
            connection = self._pool.connection_class(**options)
            try:
                await connection.connect()  # type: ignore[no-untyped-call]
            except BaseException:  # a frozen server accepts the connection and says nothing
                await connection.disconnect(nowait=True)
                raise
            self._wire = _Wire(connection)
            return self._wire

    async def aclose(self) -> None:
        """Close the connection."""
        if self._wire is not None:
            self._wire.reader.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._wire.reader


class Volatile:
    """A line for what may be lost: its calls give None while Redis is away, and the log says what that means."""

    def __init__(self, client: redis.Redis | None, without: str) -> None:
        self._line = Line(client) if client is not None else None
        self._without = without

    async def call(self, *command: str | bytes | int) -> bytes | None:
        """Send a command and give its answer; None also where there is no Redis."""
        if self._line is None:
            return None
        try:
            answer: bytes | None = await self._line.call(*command)
        except (RedisError, OSError, TimeoutError) as error:
            log.warning("Redis is away (%s); %s", type(error).__name__, self._without)
            return None
        return answer

    async def aclose(self) -> None:
        """Close the connection."""
        if self._line is not None:
            await self._line.aclose()
