"""A real `ctx up` process, and Node with other people's clients."""

from __future__ import annotations

import fcntl
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients.browser import Browser
from tests.support import npm
from tests.support.product import Up

TYPESCRIPT_SDK = "@modelcontextprotocol/sdk@1.32.2"
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
FASTMCP = "fastmcp==4.2.3"
OAUTH_CLIENTS = (
    TYPESCRIPT_SDK,
    "@modelcontextprotocol/client@2.4.0",
    "mcp-remote@0.15.1",
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
)


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
    return product.running()


@pytest.fixture(scope="session")
def typescript_sdk():
    """A folder with the TypeScript SDK."""
    return npm.installed("typescript-sdk-1", TYPESCRIPT_SDK)


@pytest.fixture(scope="session")
def node_clients():
    """A folder with the clients that sign in, and the conformance suite."""
    return npm.installed("oauth-clients-1", *OAUTH_CLIENTS)


@pytest.fixture(scope="session")
def inspector():
    """The command of the Inspector without its pages."""
    folder = npm.installed("inspector-1", INSPECTOR) / "node_modules" / "@modelcontextprotocol" / "inspector"
    return [str(npm.NODE), str(folder / "clients" / "launcher" / "build" / "index.js"), "--cli"]


@pytest.fixture(scope="session")
def fastmcp():
    """The path of a Python that has the FastMCP client, which wants versions of its own."""
    folder = npm.cache() / "fastmcp-1"
    python = folder / "bin" / "python"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            uv = Path(sys.executable).with_name("uv")
            subprocess.run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, folder], check=True)
            subprocess.run([uv, "pip", "install", "--quiet", "--python", python, FASTMCP], check=True)
            (folder / "done").touch()
    return str(python)


@pytest.fixture(scope="session")
def node():
    """The path of a new enough Node."""
    return str(npm.NODE)


@pytest.fixture
def browser(product):
    """A new person with a browser."""
    email = f"{secrets.token_hex(4)}@example.test"
    product.admin("create-user", "--email", email)
    return Browser(product.url, email, product.admin("sign-in-link", "--email", email)["signInLink"])


@pytest.fixture(scope="session")
def conformance_folder(node_clients):
    """The folder of the official conformance suite."""
    return node_clients / "node_modules" / "@modelcontextprotocol" / "conformance"


@pytest.fixture
def conformance(node, conformance_folder, tmp_path):
    """The official conformance suite as a command."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [node, str(conformance_folder / "dist" / "index.js"), *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False)

    return run
