"""The embedding model, shared with the tests of features, the service on a socket, and the command line of a user."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket

import pytest
import pytest_asyncio
import typer
import uvicorn
from typer.testing import CliRunner

from app.cli import client_commands
from tests.features.conftest import index, model
from tests.support.service import serving

__all__ = ["index", "model"]

COMMANDS = typer.Typer()
client_commands.register(COMMANDS)


class Server(uvicorn.Server):
    """Leaves the signals to the test run."""

    def capture_signals(self):
        return contextlib.nullcontext()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def listening(settings):
    """The service on a socket of this machine, at its public address."""
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    async with serving(settings.model_copy(update={"public_url": url})) as app:
        server = Server(uvicorn.Config(app, lifespan="off", log_config=None, access_log=False, ws="none"))
        task = asyncio.create_task(server.serve(sockets=[listener]))
        yield url, app
        server.should_exit = True
        await task


@pytest_asyncio.fixture(scope="session")
async def address(service):
    listener = socket.create_server(("127.0.0.1", 0))
    server = Server(uvicorn.Config(service, lifespan="off", log_config=None, access_log=False, ws="none"))
    task = asyncio.create_task(server.serve(sockets=[listener]))
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    await task


class Ctx:
    """The command line of one user, with a state folder of its own."""

    def __init__(self, environment):
        self.environment = environment

    async def __call__(self, *args):
        return await asyncio.to_thread(CliRunner().invoke, COMMANDS, [str(arg) for arg in args], env=self.environment)

    async def json(self, *args):
        result = await self(*args, "--json")
        return result.exit_code, json.loads(result.stdout)


@pytest.fixture
def ctx(address, alice, tmp_path):
    return Ctx(
        {
            "CTX_URL": address,
            "CTX_API_KEY": alice.key,
            "XDG_STATE_HOME": str(tmp_path / "state"),
            "DATA_DIR": str(tmp_path / "none"),
        }
    )


async def documents(user):
    """A user's documents by title."""
    return {item["title"]: item for item in (await user.client.get("/v1/documents")).json()["data"]}
