"""One embedded Postgres and Valkey per test run, held by a keeper process that ends with the run.

The first worker that needs them starts the keeper under a lock; the keeper makes a migrated template database, writes
the addresses down, and stops everything when it is told to or when the run's controller is gone, however it went.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from app.process import is_alive
from app.store import bootstrap, embedded, migrating

RUN_ENV = "CONTEXT_REPO_TEST_RUN"
SECRET = "a secret of the tests, as long as real ones are"
TEMPLATE = "context_repo_template"
START_SECONDS = 150.0


@dataclass(frozen=True)
class Servers:
    """Addresses of the run's servers: Postgres as superuser (database `postgres`), and Valkey."""

    postgres_url: str
    redis_url: str

    def superuser_url(self, database: str) -> str:
        return bootstrap.with_database(self.postgres_url, database)


def begin_run() -> None:
    """Make the run's folder; called once, by the controller."""
    folder = tempfile.mkdtemp(prefix="context-repo-tests-")
    os.environ[RUN_ENV] = json.dumps({"folder": folder, "controller": os.getpid()})


def end_run() -> None:
    """Stop the keeper, if one was started, and remove the folder."""
    folder = Path(json.loads(os.environ.pop(RUN_ENV))["folder"])
    with contextlib.suppress(OSError, ValueError):
        keeper = int((folder / "keeper.pid").read_text())
        os.kill(keeper, signal.SIGTERM)
        deadline = time.monotonic() + 30
        while is_alive(keeper) and time.monotonic() < deadline:
            time.sleep(0.02)
    shutil.rmtree(folder, ignore_errors=True)


def use_servers() -> Servers:
    """Give the addresses, starting the keeper when this is the first use in the run."""
    run = json.loads(os.environ[RUN_ENV])
    folder = Path(run["folder"])
    found = folder / "servers.json"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not found.exists():
            _start_keeper(folder, run["controller"], found)
    return Servers(**json.loads(found.read_text()))


def _start_keeper(folder: Path, controller: int, found: Path) -> None:
    with (folder / "keeper.log").open("wb") as log:
        keeper = subprocess.Popen(
            [sys.executable, "-m", "tests.support.servers", str(folder), str(controller)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=Path(__file__).parents[2],
            start_new_session=True,  # a terminal's Ctrl-C reaches pytest, which then stops the keeper
        )
    (folder / "keeper.pid").write_text(str(keeper.pid))
    deadline = time.monotonic() + START_SECONDS
    while not found.exists():
        if keeper.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError("the test servers did not start:\n" + (folder / "keeper.log").read_text())
        time.sleep(0.02)


def _keep(folder: Path, controller: int) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        with embedded.running(folder / "data", durable=False) as servers:
            assert servers.postgres is not None
            assert servers.valkey is not None
            asyncio.run(bootstrap.bootstrap_embedded(servers.postgres.url(), SECRET, TEMPLATE))
            migrating.upgrade(bootstrap.role_urls(servers.postgres.url(TEMPLATE), SECRET).owner)
            found = Servers(servers.postgres.url(), servers.valkey.url)
            (folder / "servers.new").write_text(json.dumps(asdict(found)))
            (folder / "servers.new").rename(folder / "servers.json")
            while is_alive(controller):
                time.sleep(0.2)
    finally:
        if not is_alive(controller):
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    _keep(Path(sys.argv[1]), int(sys.argv[2]))
