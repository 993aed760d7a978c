"""Settings of a worker's own database, and the application running inside the test's event loop."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import asyncpg
import httpx2

from app import wiring
from app.gate.gate import Gate
from app.gate.operation import Operation
from app.kit.errors import (
    AppError,
    Gone,
    IdempotencyInProgress,
    IdempotencyKeyReused,
    InvalidRequest,
    QuotaExceeded,
    Unavailable,
)
from app.main import create_app
from app.settings import Settings
from tests.support.asgi import PROXY, Transport
from tests.support.servers import SECRET, TEMPLATE, Servers

if TYPE_CHECKING:
    from fastapi import FastAPI

BASE_URL = "http://service.test"
_REDIS_DATABASES = 16
ANY_OPERATION = (InvalidRequest, Gone, IdempotencyKeyReused, IdempotencyInProgress, QuotaExceeded, Unavailable)
"""What any operation may raise without declaring it."""


def worker_number() -> int:
    """Number this process among the run's workers; 0 when there is only one."""
    return int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))


def settings_for(servers: Servers, database: str) -> Settings:
    """Fill in every address for one database of the run's server; nothing comes from the environment."""
    defaults = Settings.model_construct(
        data_dir=Settings.model_fields["data_dir"].default,
        pool_size=4,
        public_url=BASE_URL,
        insecure_http=True,
        trusted_proxies=[PROXY],  # each visitor of the tests has an address of its own
    )
    redis_url = servers.redis_url.rpartition("/")[0] + f"/{worker_number() % _REDIS_DATABASES}"
    return wiring.with_addresses(defaults, servers.superuser_url(database), redis_url, SECRET)


async def create_database(servers: Servers, name: str, template: str = TEMPLATE) -> None:
    """Copy the migrated template, with the rights that the bootstrap gives on a database."""
    connection = await asyncpg.connect(servers.postgres_url)
    try:
        await connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        await connection.execute(f"CREATE DATABASE {name} TEMPLATE {template} OWNER owner")
        await connection.execute(f"REVOKE ALL ON DATABASE {name} FROM PUBLIC")
        await connection.execute(f"GRANT CONNECT ON DATABASE {name} TO app_write, app_read, app_system")
    finally:
        await connection.close()


async def drop_database(servers: Servers, name: str) -> None:
    connection = await asyncpg.connect(servers.postgres_url)
    try:
        await connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
    finally:
        await connection.close()


@contextlib.asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[FastAPI]:
    """Run an application through its lifespan, in a task of its own: cancel scopes may not cross tasks."""
    app = create_app(settings)
    started, stop = asyncio.Event(), asyncio.Event()

    async def live() -> None:
        async with app.router.lifespan_context(app):
            started.set()
            await stop.wait()

    task = asyncio.create_task(live())
    waiting = asyncio.create_task(started.wait())
    await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if task.done():
        task.result()
    _refuse_undeclared_errors(app.state.gate)
    try:
        yield app
    finally:
        stop.set()
        await task


def _refuse_undeclared_errors(gate: Gate) -> None:
    """Turn a refusal that an operation does not declare into a fault, so that whichever test meets it fails."""
    run = gate.run

    async def run_and_check(admission: Any, operation: Operation[Any, Any], args: Any, **options: Any) -> Any:
        try:
            return await run(admission, operation, args, **options)
        except AppError as error:
            if isinstance(error, (*operation.raises, *ANY_OPERATION)):
                raise
            msg = f"{operation.name} raised {type(error).__name__} without declaring it"
            raise AssertionError(msg) from error

    gate.run = run_and_check  # type: ignore[method-assign]


def client_of(app: Any, authorization: str | None = None, **headers: str) -> httpx2.AsyncClient:
    """Make a client of an application; `authorization` is the whole header."""
    given = {"authorization": authorization} if authorization else {}
    return httpx2.AsyncClient(transport=Transport(app), base_url=BASE_URL, headers=given | headers)
