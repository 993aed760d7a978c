"""The faults, injected only into what the run itself started."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from random import Random

import asyncpg

from tests.chaos.clients import Document
from tests.support.stack import ServerProcess, Stack

PAUSE_SECONDS = 0.8
RESTART_SECONDS = 30.0
_STARTS = 10
_LOCK_SECONDS = 3.5
"""Longer than the roles' `lock_timeout`, so that writers of the document are refused."""


class Nemesis:
    """Kills workers, stops Postgres at once, ends backends, holds rows."""

    def __init__(self, stack: Stack, workers: Sequence[ServerProcess], documents: Sequence[Document], random: Random):
        assert stack.servers is not None
        assert stack.servers.postgres is not None
        self._postgres, self._superuser_url = stack.servers.postgres, stack.superuser_url
        self._workers, self._documents, self._random = workers, documents, random
        self._reviving: dict[int, asyncio.Task[None]] = {}
        self.faults: Counter[str] = Counter()

    async def run(self, deadline: float) -> None:
        """Inject a fault about every second until the deadline; each is over before the next begins."""
        kinds: list[tuple[str, Callable[[], Awaitable[None]]]] = [
            ("kill -9 of a worker", self._kill_worker),
            ("backends terminated", self._terminate_backends),
            ("kill -9 of a worker", self._kill_worker),
            ("Postgres stopped at once", self._stop_postgres),
            ("kill -9 of a worker", self._kill_worker),
            ("row held beyond the lock timeout", self._hold_row),
        ]
        number = 0
        while time.monotonic() < deadline - 2:
            await asyncio.sleep(PAUSE_SECONDS * self._random.uniform(0.5, 1.5))
            name, fault = kinds[number % len(kinds)]
            await fault()
            self.faults[name] += 1
            number += 1
        await asyncio.gather(*self._reviving.values())

    async def _kill_worker(self) -> None:
        """Kill a worker that serves; it comes back while other faults go on."""
        while not (ready := [worker for worker in self._workers if worker.port not in self._reviving]):
            await asyncio.wait(self._reviving.values(), return_when=asyncio.FIRST_COMPLETED)
        worker = self._random.choice(ready)
        worker.kill()
        self._reviving[worker.port] = asyncio.create_task(self._revive(worker))

    async def _revive(self, worker: ServerProcess) -> None:
        for _ in range(_STARTS):
            worker.start()
            try:
                await asyncio.to_thread(worker.wait_ready)
            except RuntimeError:  # it was starting while Postgres was away
                continue
            break
        del self._reviving[worker.port]

    async def _stop_postgres(self) -> None:
        process = self._postgres.process
        assert process is not None
        process.send_signal(signal.SIGQUIT)
        await asyncio.to_thread(process.wait)
        # The server is forked from the main thread, to whose end its own is bound.
        self._postgres.begin()
        deadline = time.monotonic() + RESTART_SECONDS
        while not self._postgres.poll():
            assert time.monotonic() < deadline
            await asyncio.sleep(0.02)

    async def _terminate_backends(self) -> None:
        async with self._superuser() as connection:
            await connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename LIKE 'app_%' AND random() < 0.5"
            )

    async def _hold_row(self) -> None:
        document = self._random.choice(self._documents)
        async with self._superuser() as connection, connection.transaction():
            await connection.execute("SELECT 1 FROM documents WHERE id = $1 FOR UPDATE", document.id)
            await asyncio.sleep(_LOCK_SECONDS)

    @contextlib.asynccontextmanager
    async def _superuser(self):
        connection = await asyncpg.connect(self._superuser_url)
        try:
            yield connection
        finally:
            await connection.close()
