"""Passwords: argon2id in two threads, so that guessing many at once cannot take the service's processors."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from app.kit.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

T = TypeVar("T")
MAX_LENGTH = 200
_THREADS = 2
_NICENESS = 15
_TURNS = 4
_MAX_WAITING = 200
_RETRY_SECONDS = 5
# OWASP's recommendation of m = 19 MiB, t = 2, p = 1.
_MEMORY_KIB = 19 * 1024


def _step_back() -> None:
    """Let a hashing thread have what the others leave: on Linux each thread has a priority of its own."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a password is right, and a new hash where the stored one has outdated parameters."""

    right: bool
    rehashed: str | None = None


class Passwords:
    """Hashes and checks passwords; an unknown account costs as much as a known one."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher(time_cost=2, memory_cost=_MEMORY_KIB, parallelism=1)
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="password", initializer=_step_back)
        self._nobody = self._hasher.hash(secrets.token_urlsafe(16))
        self._waiting = 0
        self._turns = asyncio.Semaphore(_TURNS)
        self._queued = 0

    def close(self) -> None:
        """Stop the threads."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for one's turn to sign in: few at once ask the database and hash, so that a crowd delays only itself.

        Raises:
            Unavailable: too many wait.
        """
        if self._queued >= _MAX_WAITING:
            raise _crowded()
        self._queued += 1
        try:
            async with self._turns:
                yield
        finally:
            self._queued -= 1

    async def hash(self, password: str) -> str:
        """Hash a password for storage."""
        return await self._run(self._hasher.hash, password)

    async def check(self, stored: str | None, password: str) -> Verdict:
        """Compare with a stored hash, or with nobody's when there is none."""
        return await self._run(self._check, stored, password[:MAX_LENGTH])

    def _check(self, stored: str | None, password: str) -> Verdict:
        try:
            self._hasher.verify(stored or self._nobody, password)
            right = stored is not None
        except (Argon2Error, InvalidHashError):
            right = False
        if right and stored is not None and self._hasher.check_needs_rehash(stored):
            return Verdict(right, self._hasher.hash(password))
        return Verdict(right)

    async def _run(self, work: Callable[..., T], *args: Any) -> T:
        if self._waiting >= _MAX_WAITING:
            raise _crowded()
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, work, *args)
        finally:
            self._waiting -= 1


def _crowded() -> Unavailable:
    return Unavailable("Too many people sign in just now; try again in some seconds.", retry_after=_RETRY_SECONDS)
