"""The embedded Valkey: counters and short-lived state only, so nothing is written to disk."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
import subprocess
from pathlib import Path

from app.process import stop_process
from app.store.embedded.account import Runner
from app.store.embedded.files import EmbeddedError, free_port, remember_ports, remembered_port


class EmbeddedValkey:
    """One Valkey server on a loopback port, with a password that lives as long as this object."""

    def __init__(self, data_dir: Path, runner: Runner) -> None:
        self._data_dir = data_dir
        self._runner = runner
        self._home = data_dir / "valkey"
        self._password = secrets.token_urlsafe(24)
        self._server: subprocess.Popen[bytes] | None = None
        self._port = 0
        self._port_retries = 3
        self._was_ready = False

    @property
    def process(self) -> subprocess.Popen[bytes] | None:
        """The server's process once it was started."""
        return self._server

    @property
    def url(self) -> str:
        """Address with password."""
        return f"redis://:{self._password}@127.0.0.1:{self._port}/0"

    def begin(self) -> None:
        """Start the server; a restart keeps port and password, so that clients find it again."""
        binary = self._runner.valkey_binary()
        self._runner.make_folder(self._home)
        self._port = self._port or remembered_port(self._data_dir, "valkey")
        fd = os.open(self._data_dir / "valkey.log", os.O_WRONLY | os.O_TRUNC | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "wb") as log:
            args = [str(binary), "-"]
            self._server = self._runner.spawn(args, self._home, log, signal.SIGTERM, stdin=subprocess.PIPE)
        self._send_configuration()

    def _send_configuration(self) -> None:
        # Over standard input: what is in the arguments, everybody on the machine can read.
        lines = [
            f"port {self._port}",
            "bind 127.0.0.1",
            f"requirepass {self._password}",
            'save ""',
            "appendonly no",
            "daemonize no",
            "loglevel warning",
        ]
        assert self._server is not None
        assert self._server.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it died at once; `poll` tells why
            self._server.stdin.write(("\n".join(lines) + "\n").encode())
            self._server.stdin.close()

    def poll(self) -> bool:
        """Tell whether the server answers to its password."""
        assert self._server is not None
        if self._server.poll() is not None:
            self._retry_on_another_port()
            return False
        if _pings(self._port, self._password):
            remember_ports(self._data_dir, valkey=self._port)
            self._was_ready = True
            return True
        return False

    def stop(self) -> None:
        """Stop the server; it has nothing to save."""
        if self._server is not None:
            stop_process(self._server, signal.SIGTERM, seconds=10)

    def _retry_on_another_port(self) -> None:
        log = self._data_dir / "valkey.log"
        text = log.read_text(encoding="utf-8", errors="replace")
        if "Address already in use" not in text or self._was_ready or self._port_retries == 0:
            last = text.strip().splitlines()[-1:] or ["no reason was logged"]
            raise EmbeddedError(f"Valkey did not start: {last[0]} (see {log})")
        self._port_retries -= 1
        self._port = free_port()
        self.begin()


def _pings(port: int, password: str) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=0.5) as sock:
            sock.sendall(f"AUTH {password}\r\nPING\r\n".encode())
            answer = b""
            while b"PONG" not in answer:
                part = sock.recv(256)
                if not part:
                    return False
                answer += part
    except OSError:
        return False
    return True
