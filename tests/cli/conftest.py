"""The embedding model, shared with the tests of features, and the service on a socket."""

from __future__ import annotations

import asyncio
import contextlib
import socket

import pytest_asyncio
import uvicorn

from tests.features.conftest import model
from tests.support.service import serving

__all__ = ["model"]


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
