"""The embedded Postgres: initdb once, then `postgres` itself as a direct child on a loopback port."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import IO, Final

from app.process import is_alive, stop_process
from app.store.embedded.account import Runner
from app.store.embedded.files import EmbeddedError, free_port, remember_ports, remembered_port, write_private

SUPERUSER = "postgres"
_STATUS_LINE = 7  # of postmaster.pid
_BUSY: Final = "could not create any TCP/IP sockets"
_REAPED_SECONDS: Final = 5.0
_HELD: Final = 'lock file "postmaster.pid" already exists'
MAX_LOG_BYTES = 10 * 1024 * 1024
# Errors are logged without the statement, its parameters and the row: they may hold passwords and documents.
_SERVER_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "100",
    "shared_buffers": "128MB",
    "synchronous_commit": "on",
    "idle_in_transaction_session_timeout": "30s",
    "log_statement": "none",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_checkpoints": "off",
}
# For throw-away clusters of tests: a crash of the machine may lose them, and many services share one.
_THROW_AWAY_SETTINGS = {
    "max_connections": "400",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
}


class EmbeddedPostgres:
    """One cluster below DATA_DIR and the server process on it."""

    def __init__(self, data_dir: Path, runner: Runner, *, durable: bool = True) -> None:
        self._data_dir = data_dir
        self._runner = runner
        self._durable = durable
        self._home = data_dir / "postgres"
        self._data = self._home / "data"
        self._new = self._home / "data.new"
        self._password_file = self._home / "password"
        self._log_path = data_dir / "postgres.log"
        self._bin = Path()
        self._initdb: subprocess.Popen[bytes] | None = None
        self._server: subprocess.Popen[bytes] | None = None
        self._port = 0
        self._retries = 3

    @property
    def process(self) -> subprocess.Popen[bytes] | None:
        """The server's process once it was started."""
        return self._server

    def url(self, database: str = "postgres") -> str:
        """Address of a database as superuser."""
        password = self._password_file.read_text(encoding="utf-8").strip()
        return f"postgresql://{SUPERUSER}:{password}@127.0.0.1:{self._port}/{database}"

    def begin(self) -> None:
        """Start initdb on a new DATA_DIR, else the server; `poll` carries on from there.

        A server that was ready comes back on its port, so that clients find it again, after its crash recovery.
        """
        self._bin = self._runner.postgres_folder()
        self._runner.make_folder(self._home)
        _rotate(self._log_path)
        if (self._data / "PG_VERSION").exists():
            self._wait_for_predecessor()
            self._start_server()
        else:
            self._start_initdb()

    def poll(self) -> bool:
        """Advance the start by one step without blocking and tell whether the server takes connections."""
        if self._initdb is not None:
            code = self._initdb.poll()
            if code is None:
                return False
            self._initdb = None
            if code != 0:
                raise EmbeddedError(self._failure("initdb failed"))
            self._new.rename(self._data)  # only a complete cluster gets the name that later starts look for
            self._start_server()
            return False
        return self._poll_server()

    def stop(self) -> None:
        """Stop fast but clean: running transactions are rolled back, everything committed is on disk."""
        for proc in (self._initdb, self._server):
            if proc is not None:
                stop_process(proc, signal.SIGINT, seconds=30)

    def _start_initdb(self) -> None:
        if self._new.exists():  # left by an interrupted start
            shutil.rmtree(self._new)
        self._runner.make_folder(self._new)
        write_private(self._password_file, secrets.token_urlsafe(24))
        self._runner.own(self._password_file, 0o600)
        here = self._runner.here(self._new)
        args = [str(self._bin / "initdb"), "-D", here, "-U", SUPERUSER, "--pwfile", f"{here}/../password"]
        args += ["--auth=scram-sha-256", "-E", "UTF8", "--locale-provider=builtin", "--locale=C.UTF-8"]
        args += [] if self._durable else ["--no-sync"]
        with self._open_log() as log:
            self._initdb = self._runner.spawn(args, self._new, log, signal.SIGKILL)

    def _start_server(self) -> None:
        self._port = self._port or remembered_port(self._data_dir, "postgres")
        settings = _SERVER_SETTINGS | {"port": str(self._port)} | ({} if self._durable else _THROW_AWAY_SETTINGS)
        args = [str(self._bin / "postgres"), "-D", self._runner.here(self._data)]
        for name, value in settings.items():
            args += ["-c", f"{name}={value}"]
        with self._open_log() as log:
            self._server = self._runner.spawn(args, self._data, log, signal.SIGINT)

    def _poll_server(self) -> bool:
        assert self._server is not None
        if self._server.poll() is not None:
            self._try_again()
            return False
        lines = _pid_file_lines(self._data)
        # The line that pg_ctl reads, too: no connection and no helper process is needed to know.
        mine = lines[:1] == [str(self._server.pid)]
        ready = mine and [line.strip() for line in lines[_STATUS_LINE : _STATUS_LINE + 1]] == ["ready"]
        if ready:
            remember_ports(self._data_dir, postgres=self._port)
        return ready

    def _try_again(self) -> None:
        """Start once more where another program has the port, or a predecessor that began late has the folder still."""
        said = _tail(self._log_path)
        busy, held = _BUSY in said, _HELD in said
        if self._retries == 0 or not (busy or held):
            raise EmbeddedError(self._failure("Postgres did not start"))
        self._retries -= 1
        if held:
            self._wait_for_predecessor()
        else:
            self._port = free_port()
        self._start_server()

    def _wait_for_predecessor(self, seconds: float = 30.0) -> None:
        """Let a server finish that outlived its killed supervisor; forget a pid file that names another program."""
        began = time.monotonic()
        while True:
            lines = _pid_file_lines(self._data)
            pid = int(lines[0]) if lines and lines[0].isdigit() else 0
            alive, waited = is_alive(pid), time.monotonic() - began
            if not alive and not (pid and Path(f"/proc/{pid}").exists()):
                return
            # Dead, but nobody has asked for its end yet: Postgres would take it for a running one.
            if not alive and waited > _REAPED_SECONDS and not _working_in(self._data):
                (self._data / "postmaster.pid").unlink(missing_ok=True)
                return
            if alive and not _works_in(pid, self._data):
                # The id was given to a stranger (usual after a container restart); Postgres itself would refuse.
                (self._data / "postmaster.pid").unlink(missing_ok=True)
                return
            if waited > seconds:
                raise EmbeddedError(f"Postgres (process {pid}) still runs on {self._data}; stop it and start again")
            time.sleep(0.02)

    def _open_log(self) -> IO[bytes]:
        fd = os.open(self._log_path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        return os.fdopen(fd, "ab")

    def _failure(self, what: str) -> str:
        lines = [line for line in _tail(self._log_path).splitlines() if "FATAL" in line or "error:" in line]
        reason = lines[-1].strip() if lines else "no reason was logged"
        return f"{what}: {reason} (see {self._log_path})"


def _pid_file_lines(data: Path) -> list[str]:
    try:
        return (data / "postmaster.pid").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


def _works_in(pid: int, folder: Path) -> bool:
    """Tell whether a process has `folder` as its working folder; yes when the system cannot tell."""
    try:
        return Path(f"/proc/{pid}/cwd").samefile(folder)
    except OSError:
        return not Path("/proc/self/cwd").exists()


def _working_in(folder: Path) -> bool:
    """Tell whether any process has `folder` as its working folder."""
    return any(_works_in(int(process.name), folder) for process in Path("/proc").glob("[0-9]*"))


def _tail(path: Path, size: int = 4000) -> str:
    try:
        with path.open("rb") as handle:
            handle.seek(max(0, path.stat().st_size - size))
            return handle.read().decode("utf-8", "replace")
    except OSError:
        return ""


def _rotate(path: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        if path.stat().st_size > MAX_LOG_BYTES:
            path.replace(path.with_suffix(".log.1"))
