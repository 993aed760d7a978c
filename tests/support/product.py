"""The product as a user starts it: `ctx up` in a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
import httpx2

START_SECONDS = 90.0
CTX = Path(sys.executable).with_name("ctx")
_STARTED = "Stop with Ctrl-C"


@dataclass(frozen=True)
class Running:
    """Where the process answers, and the key that it printed."""

    url: str
    key: str

    @property
    def authorization(self) -> str:
        return f"API-Key {self.key}"


class Up:
    """One command, embedded servers; it comes back at the same address.

    Args:
        settings: environment variables of the service.
    """

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self.log = folder / "log"
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        self.environment = kept | {"DATA_DIR": str(folder / "data"), "PORT": str(self.port)} | settings
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> Running:
        """Start it and wait until it answers."""
        before = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [CTX, "up"], env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self._process.poll() is None:
            if _STARTED in self.log.read_text()[before:] and self._answers():
                return self.running()
            time.sleep(0.1)
        raise RuntimeError(self.log.read_text())

    def _answers(self) -> bool:
        try:
            return httpx2.get(f"{self.url}/readyz", timeout=2).status_code == 200
        except httpx2.HTTPError:
            return False

    def running(self) -> Running:
        """Tell where it answers, and its first key."""
        return Running(self.url, json.loads((self.folder / "data" / "cli.json").read_text())["apiKey"])

    def first_link(self) -> str:
        """Give the link that the first start prints for the first owner."""
        found = re.search(r"http\S+/set-password/\S+", self.log.read_text())
        assert found, self.log.read_text()
        return found[0]

    def stop(self) -> None:
        """Stop it as a service manager does."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(60)

    def restart(self) -> None:
        """Stop it and start it again."""
        self.stop()
        self.start()

    def expire_access(self) -> None:
        """Let every access token end now; refresh tokens go on."""
        self.sql("UPDATE oauth_tokens SET expires_at = now() WHERE kind = 'access'")

    def ctx(self, *arguments: str) -> str:
        """Run a command of `ctx`; returns what it prints."""
        done = subprocess.run(
            [CTX, *arguments], env=self.environment, capture_output=True, text=True, check=True, timeout=60
        )
        return done.stdout

    def admin(self, *arguments: str) -> dict[str, Any]:
        """Run `ctx admin`."""
        found: dict[str, Any] = json.loads(self.ctx("admin", *arguments, "--json"))
        return found

    def sql(self, statement: str, *values: Any, workspace: str = "") -> None:
        """Reach behind the service's back; what belongs to a workspace is seen in its name alone."""
        run = json.loads((self.folder / "data" / "run.json").read_text())

        async def execute() -> None:
            connection = await asyncpg.connect(run["database_url"].replace("+asyncpg", ""))
            try:
                await connection.execute("SELECT set_config('app.workspace_id', $1, false)", workspace)
                await connection.execute(statement, *values)
            finally:
                await connection.close()

        asyncio.run(execute())
