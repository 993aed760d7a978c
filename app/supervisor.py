"""Composition root of `ctx up` and `ctx serve`: starts everything in order, keeps it alive, stops it in order."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from app.kit.errors import AppError
from app.settings import Settings
from app.store import bootstrap, embedded, migrating
from app.supervised import Backoff, Child, run_step
from app.wiring import JoinError, child_environment, join, with_addresses

log = logging.getLogger("app.supervisor")

CLI_NAME = "cli.json"
API_START_SECONDS = 120.0
PREDECESSOR_SECONDS = 5.0


class SupervisorError(RuntimeError):
    """The service cannot start or go on; the message names the next step."""


@dataclass(frozen=True)
class Started:
    """What the operator is told when the service answers."""

    url: str
    api_key: str = field(default="", repr=False)
    sign_in_link: str = field(default="", repr=False)
    has_key_file: bool = False
    seconds: float = 0.0


def listen(host: str, port: int) -> socket.socket:
    """Take the port before anything else is started, or say who is in the way."""
    family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[
        0
    ]
    sock = socket.socket(family, kind, proto)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        # Listening at once keeps a second starter off; early clients wait in the queue until the API is there.
        sock.listen(2048)
    except OSError as exc:
        sock.close()
        if exc.errno == errno.EADDRINUSE:
            message = f"Port {port} on {host} is in use; set PORT=… or stop the other process"
        else:
            message = (
                f"Cannot listen on {host} port {port} ({exc.strerror}); set HOST and PORT to an address of this machine"
            )
        raise SupervisorError(message) from exc
    return sock


def _listen_after(data_dir: Path, settings: Settings) -> socket.socket:
    """Take the port, and give the processes of a killed predecessor (its run file is still there) time to free it."""
    deadline = time.monotonic() + (PREDECESSOR_SECONDS if embedded.has_stale_run_file(data_dir) else 0.0)
    while True:
        try:
            return listen(settings.host, settings.port)
        except SupervisorError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(0.1)


@dataclass
class Supervisor:
    """One running service: its servers, its processes, and the signals that stop it."""

    settings: Settings
    workers: int = 1
    announce: Callable[[Started], None] = lambda _: None
    servers: embedded.EmbeddedServers | None = None
    children: list[Child] = field(default_factory=list)
    listener: socket.socket | None = None
    _stops: int = 0
    _wake: int = -1
    _superuser_url: str = ""
    _published: embedded.RunFile | None = None
    _postgres_backoff: Backoff = field(default_factory=Backoff)
    _valkey_backoff: Backoff = field(default_factory=Backoff)
    _begun: float = field(default_factory=time.monotonic)

    # -- starting ---------------------------------------------------------------------------------------------------

    def up(self) -> None:
        """Run the whole service until a signal stops it."""
        data_dir = embedded.prepare_data_dir(self.settings.data_dir)
        lock = embedded.DataDirLock(data_dir)
        self._lock_or_explain(lock, data_dir)
        try:
            self.listener = _listen_after(data_dir, self.settings)
            self._run(lambda: self._start_all(data_dir))
        finally:
            if self.listener is not None:
                self.listener.close()
            lock.release()

    def serve(self) -> None:
        """Run API processes alone, on servers that run elsewhere."""
        self.settings = join(self.settings)
        self.listener = listen(self.settings.host, self.settings.port)
        try:
            self._run(self._start_api_alone)
        finally:
            self.listener.close()

    def _lock_or_explain(self, lock: embedded.DataDirLock, data_dir: Path) -> None:
        try:
            lock.acquire()
        except embedded.AlreadyRunningError:
            run = embedded.read_run_file(data_dir)
            where = f"at {run.url} (process {run.pid})" if run else "and is starting or stopping right now"
            raise SupervisorError(
                f"The service of DATA_DIR {data_dir} is already running {where}; "
                "stop it, or set another DATA_DIR and PORT"
            ) from None

    def _run(self, start: Callable[[], None]) -> None:
        self._catch_signals()
        try:
            start()
            while not self._stops:
                self._wait(self._tend())
        except embedded.StartInterruptedError:
            pass
        finally:
            self._stop_all()

    def _start_all(self, data_dir: Path) -> None:
        given = self.settings
        secret = bootstrap.load_secret(given)
        own_database, own_redis = not given.database_url, not given.redis_url
        self.servers = embedded.EmbeddedServers(data_dir, postgres=own_database, valkey=own_redis)
        self._add_children("api", self.workers)  # they load their code while the servers start
        self.servers.start(should_stop=lambda: bool(self._stops))
        self.settings = self._addresses(secret)
        self._prepare_database(secret, own=own_database)
        first = asyncio.run(bootstrap.has_no_users(self.settings.database_url))
        self._release_children("api")
        key, link = self._first_key() if first else ("", "")  # while the API starts
        self._await_api()
        self._add_children("worker", 1)  # only now: its models would take the processor from the API's start
        self._release_children("worker")
        self._write_cli_file(data_dir, key)
        self._publish()
        self._announce(key, link, has_key_file=(data_dir / CLI_NAME).exists())

    def _addresses(self, secret: str) -> Settings:
        assert self.servers is not None
        base, redis = self.settings.database_url, self.settings.redis_url
        if self.servers.postgres is not None:
            self._superuser_url = self.servers.postgres.url()
            base = self.servers.postgres.url(bootstrap.DATABASE)
        if self.servers.valkey is not None:
            redis = self.servers.valkey.url
        return with_addresses(self.settings, base, redis, secret)

    def _prepare_database(self, secret: str, *, own: bool) -> None:
        if own:
            asyncio.run(bootstrap.bootstrap_embedded(self._superuser_url, secret))
        else:
            asyncio.run(bootstrap.bootstrap_external(_role_urls(self.settings), secret))
        folder = migrating.migrations_folder()
        if not asyncio.run(migrating.is_current(self.settings.database_url, folder)):
            self._step("migrate", "The migrations failed; the reason is above")

    def _first_key(self) -> tuple[str, str]:
        answer = self._step("first-key", "The first user could not be created; the reason is above")
        made = json.loads(answer.splitlines()[-1])
        return str(made["apiKey"]), str(made["signInLink"])

    def _step(self, kind: str, failure: str) -> str:
        code, output = run_step(kind, child_environment(self.settings), lambda: bool(self._stops))
        if self._stops:
            raise embedded.StartInterruptedError
        if code != 0:
            raise SupervisorError(failure)
        return output

    def _start_api_alone(self) -> None:
        self._add_children("api", self.workers)
        self._release_children("api")
        self._await_api()
        self._announce("", "", has_key_file=True)

    def _add_children(self, kind: str, count: int) -> None:
        fd = self.listener.fileno() if self.listener is not None and kind == "api" else None
        added = [Child(kind, fd) for _ in range(count)]
        self.children += added
        for child in added:
            child.start()

    def _release_children(self, kind: str) -> None:
        for child in self.children:
            if child.kind == kind:
                child.release(child_environment(self.settings))

    def _await_api(self) -> None:
        deadline = time.monotonic() + API_START_SECONDS
        apis = [child for child in self.children if child.kind == "api"]
        while not all(child.ready for child in apis):
            if self._stops:
                raise embedded.StartInterruptedError
            if any(child.exit_code is not None for child in apis):
                raise SupervisorError("The API did not start; the reason is above")
            if time.monotonic() > deadline:
                raise SupervisorError(f"The API was not ready within {API_START_SECONDS:.0f} s")
            self._wait(0.05)

    # -- telling ----------------------------------------------------------------------------------------------------

    def _announce(self, key: str, link: str, *, has_key_file: bool) -> None:
        self.announce(Started(self.settings.url, key, link, has_key_file, time.monotonic() - self._begun))

    def _publish(self) -> None:
        pids: dict[str, list[int]] = {}
        for child in self.children:
            if child.pid:
                pids.setdefault(child.kind, []).append(child.pid)
        for name in ("postgres", "valkey"):
            server = getattr(self.servers, name, None)
            if server is not None and server.process is not None:
                pids[name] = [server.process.pid]
        run = embedded.RunFile(
            pid=os.getpid(),
            url=self.settings.url,
            superuser_url=self._superuser_url,
            database_url=self.settings.database_url,
            redis_url=self.settings.redis_url,
            secret_check=bootstrap.secret_check(self.settings.secret_key.get_secret_value()),
            pids=pids,
        )
        if run != self._published:
            embedded.write_run_file(self.settings.data_dir, run)
            self._published = run

    def _write_cli_file(self, data_dir: Path, key: str) -> None:
        path = data_dir / CLI_NAME
        if not key:
            try:
                key = str(json.loads(path.read_text(encoding="utf-8"))["apiKey"])
            except (OSError, ValueError, KeyError):
                return
        embedded.write_private(path, json.dumps({"url": self.settings.url, "apiKey": key}) + "\n")

    # -- keeping alive ----------------------------------------------------------------------------------------------

    def _tend(self) -> float:
        """Restart what ended and return the seconds until something is due."""
        due = [self._tend_servers(), *(child.tend() for child in self.children)]
        if self._published is not None:
            self._publish()
        return min(due)

    def _tend_servers(self) -> float:
        if self.servers is None:
            return 60.0
        return min(
            _tend_server("Postgres (see postgres.log)", self.servers.postgres, self._postgres_backoff),
            _tend_server("Valkey (see valkey.log)", self.servers.valkey, self._valkey_backoff),
        )

    # -- stopping ---------------------------------------------------------------------------------------------------

    def _stop_all(self) -> None:
        """Stop in the order API, worker, Valkey, Postgres, so that nothing loses what it still uses."""
        begun = self._stops
        if self.listener is not None:
            self.listener.close()  # else new clients would queue on a socket that nobody reads
        for kind, seconds in (("api", 25.0), ("worker", 20.0)):
            group = [child for child in self.children if child.kind == kind]
            for child in group:
                child.terminate()
            deadline = time.monotonic() + seconds
            while any(child.running for child in group) and time.monotonic() < deadline and self._stops <= begun:
                self._wait(0.1)
            for child in group:
                child.kill()
        if self.servers is not None:
            self.servers.stop()
        if self._published is not None:
            embedded.remove_run_file(self.settings.data_dir)

    # -- signals ----------------------------------------------------------------------------------------------------

    def _catch_signals(self) -> None:
        self._wake, write = os.pipe()
        for fd in (self._wake, write):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if sig is not signal.SIGHUP or signal.getsignal(sig) is not signal.SIG_IGN:  # nohup stays in force
                signal.signal(sig, self._on_signal)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # only to wake the loop

    def _on_signal(self, *_: object) -> None:
        self._stops += 1  # a second one ends the patience with open requests

    def _wait(self, seconds: float) -> None:
        fds = [self._wake, *(child.ready_fd for child in self.children if child.ready_fd is not None)]
        readable, _, _ = select.select(fds, [], [], max(0.0, seconds))
        if self._wake in readable:
            os.read(self._wake, 4096)
        for child in self.children:
            child.check_ready()


def _tend_server(
    name: str, server: embedded.EmbeddedPostgres | embedded.EmbeddedValkey | None, backoff: Backoff
) -> float:
    """Start a server that ended again when its pause is over; it comes back at the address that it had."""
    if server is None or server.process is None or server.process.poll() is None:
        return 60.0
    wait = backoff.remaining(name, server.process.returncode)
    if wait > 0:
        return wait
    backoff.started()
    server.begin()
    return 60.0


def _role_urls(settings: Settings) -> bootstrap.RoleUrls:
    return bootstrap.RoleUrls(
        settings.database_url, settings.database_write_url, settings.database_read_url, settings.database_system_url
    )


def up(settings: Settings, workers: int, announce: Callable[[Started], None]) -> None:
    """Run the whole service in the foreground."""
    Supervisor(settings, workers, announce).up()


def serve(settings: Settings, workers: int, announce: Callable[[Started], None]) -> None:
    """Run the API in the foreground, on servers that run elsewhere."""
    Supervisor(settings, workers, announce).serve()


def explained_errors() -> tuple[type[Exception], ...]:
    """Name the errors whose text is meant for the operator."""
    own = (SupervisorError, JoinError, bootstrap.BootstrapError, embedded.EmbeddedError, migrating.MigrationError)
    return (*own, AppError, subprocess.SubprocessError)
