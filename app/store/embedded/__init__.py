"""Embedded Postgres and Valkey from wheels: started by us as direct children, on loopback, behind passwords."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from app.store.embedded.account import Runner, find_account
from app.store.embedded.files import (
    AlreadyRunningError,
    DataDirLock,
    EmbeddedError,
    RunFile,
    has_stale_run_file,
    prepare_data_dir,
    read_or_create_secret,
    read_run_file,
    remove_run_file,
    write_private,
    write_run_file,
)
from app.store.embedded.postgres import EmbeddedPostgres
from app.store.embedded.valkey import EmbeddedValkey

__all__ = [
    "AlreadyRunningError",
    "DataDirLock",
    "EmbeddedError",
    "EmbeddedPostgres",
    "EmbeddedServers",
    "EmbeddedValkey",
    "RunFile",
    "StartInterruptedError",
    "has_stale_run_file",
    "prepare_data_dir",
    "read_or_create_secret",
    "read_run_file",
    "remove_run_file",
    "running",
    "write_private",
    "write_run_file",
]

POLL_SECONDS = 0.02
START_SECONDS = 120.0


class StartInterruptedError(Exception):
    """The start was given up because the caller was asked to stop."""


class EmbeddedServers:
    """The servers of one DATA_DIR. The caller holds its lock and calls from the main thread.

    The kernel's death signal is bound to the thread that forks, hence the main thread.
    """

    def __init__(self, data_dir: Path, *, postgres: bool = True, valkey: bool = True, durable: bool = True) -> None:
        runner = Runner(find_account())
        self.postgres = EmbeddedPostgres(data_dir, runner, durable=durable) if postgres else None
        self.valkey = EmbeddedValkey(data_dir, runner) if valkey else None

    def start(self, should_stop: Callable[[], bool] = lambda: False) -> None:
        """Start all servers at the same time and return when each of them answers."""
        waiting: list[EmbeddedPostgres | EmbeddedValkey] = [s for s in (self.postgres, self.valkey) if s is not None]
        try:
            for server in waiting:
                server.begin()
            self._await(waiting, should_stop)
        except BaseException:  # also Ctrl-C: nothing half-started may stay
            self.stop()
            raise

    def _await(self, waiting: list[EmbeddedPostgres | EmbeddedValkey], should_stop: Callable[[], bool]) -> None:
        deadline = time.monotonic() + START_SECONDS
        while True:
            waiting = [server for server in waiting if not server.poll()]
            if not waiting:
                return
            if should_stop():
                raise StartInterruptedError
            if time.monotonic() > deadline:
                raise EmbeddedError(f"The embedded servers were not ready within {START_SECONDS:.0f} s; see the logs")
            time.sleep(POLL_SECONDS)

    def stop(self) -> None:
        """Stop Valkey, then Postgres."""
        for server in (self.valkey, self.postgres):
            if server is not None:
                server.stop()


@contextmanager
def running(
    data_dir: Path, *, postgres: bool = True, valkey: bool = True, durable: bool = True
) -> Iterator[EmbeddedServers]:
    """Lock DATA_DIR, run its servers inside the block, stop them afterwards."""
    path = prepare_data_dir(data_dir)
    lock = DataDirLock(path)
    lock.acquire()
    try:
        servers = EmbeddedServers(path, postgres=postgres, valkey=valkey, durable=durable)
        servers.start()
        try:
            yield servers
        finally:
            servers.stop()
    finally:
        lock.release()
