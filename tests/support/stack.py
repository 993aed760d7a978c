"""A throw-away service for proofs and measurements: embedded servers, schema, users with keys, and server processes."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from app import admin
from app.process import LISTEN_FD_ENV, PARENT_ENV, die_with, stop_process
from app.settings import Settings
from app.store import bootstrap, embedded, migrating
from app.wiring import child_environment, with_addresses

ALL_SCOPES = ["documents.read", "documents.write", "prompts.read", "prompts.write", "workspace.read", "workspace.write"]
START_SECONDS = 60.0

# Limits far above what a proof sends; a short window keeps the limiter's log as long as in production.
PLANS = """
[self-hosted]
features = ["web_pages"]
window_seconds = 10
rates = { scrape = 1000000, api = 1000000, readonly = 1000000 }
[trial]
trial = true
features = ["web_pages"]
window_seconds = 10
rates = { scrape = 1000000, api = 1000000, readonly = 1000000 }
"""


@dataclass(frozen=True)
class Stack:
    """Running stores with the newest schema, and the settings that reach them."""

    settings: Settings
    superuser_url: str
    servers: embedded.EmbeddedServers | None = None
    """The servers, where they are the caller's own to stop."""

    def user(self, email: str) -> str:
        """Create a user and return a key for everything."""
        admin.create_user(self.settings, email)
        return str(admin.create_key(self.settings, email, ALL_SCOPES, "proof")["apiKey"])

    def key(self, email: str) -> str:
        """Give a user one more key, with a grant of its own."""
        return str(admin.create_key(self.settings, email, ALL_SCOPES, "another")["apiKey"])


@contextlib.contextmanager
def running(folder: Path, *, durable: bool = False) -> Iterator[Stack]:
    """Run embedded servers with a migrated database inside the block."""
    with embedded.running(folder, durable=durable) as servers:
        assert servers.postgres is not None
        assert servers.valkey is not None
        secret = embedded.read_or_create_secret(folder / "secret")
        plans = folder / "plans.toml"
        plans.write_text(PLANS, encoding="utf-8")
        asyncio.run(bootstrap.bootstrap_embedded(servers.postgres.url(), secret))
        settings = with_addresses(
            Settings(data_dir=folder, plans_file=plans, log_level="WARNING"),
            servers.postgres.url(bootstrap.DATABASE),
            servers.valkey.url,
            secret,
        )
        migrating.upgrade(settings.database_url)
        yield Stack(settings, servers.postgres.url(bootstrap.DATABASE), servers)


@dataclass
class ServerProcess:
    """One uvicorn process on an inherited socket, so that a killed one comes back at the same address."""

    settings: Settings
    factory: str = "app.main:create_app"
    extra: Mapping[str, str] = field(default_factory=dict)
    cpu: int | None = None
    log: Path | None = None
    listener: socket.socket = field(init=False)
    process: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.listener.getsockname()[1])

    @property
    def pid(self) -> int:
        """Its process id while it runs."""
        assert self.process is not None
        return self.process.pid

    def start(self) -> None:
        """Start the process without waiting for it."""
        fd = self.listener.fileno()
        environment = child_environment(self.settings) | dict(self.extra)
        environment |= {PARENT_ENV: str(os.getpid()), LISTEN_FD_ENV: str(fd)}
        if self.settings.plans_file is not None:
            environment["PLANS_FILE"] = str(self.settings.plans_file)
        output = self.log.open("ab") if self.log else None
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.support.serve", self.factory],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=environment,
                pass_fds=[fd],
                start_new_session=True,
                preexec_fn=die_with(os.getpid(), signal.SIGKILL),  # noqa: PLW1509  set up before any fork
            )
        finally:
            if output is not None:
                output.close()
        if self.cpu is not None:
            os.sched_setaffinity(self.process.pid, {self.cpu})

    def wait_ready(self, path: str = "/readyz") -> None:
        """Wait until a request is answered with 200."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            assert self.process is not None
            if self.process.poll() is not None:
                msg = f"the server ended with code {self.process.returncode}"
                raise RuntimeError(msg)
            if self._answers(path):
                return
            time.sleep(0.05)
        msg = "the server was not ready in time"
        raise TimeoutError(msg)

    def _answers(self, path: str) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", path)
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def kill(self) -> None:
        """End the process without warning."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        """Stop the process and give up the address."""
        if self.process is not None:
            stop_process(self.process, signal.SIGTERM, 5)
        self.listener.close()


@contextlib.contextmanager
def serving(*processes: ServerProcess) -> Iterator[None]:
    """Run server processes inside the block."""
    try:
        for process in processes:
            process.start()
        for process in processes:
            process.wait_ready()
        yield
    finally:
        for process in processes:
            process.close()


WORKER = """
from app import process, settings, worker
process.watch_parent()
worker.run(settings.Settings())
"""


def start_worker(stack: Stack, extra: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
    """Start a worker that ends with this process; `extra` are further variables of its environment."""
    environment = child_environment(stack.settings) | dict(extra or {}) | {PARENT_ENV: str(os.getpid())}
    return subprocess.Popen([sys.executable, "-c", WORKER], env=environment)
