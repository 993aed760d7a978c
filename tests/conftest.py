"""The fixtures: few, and nouns. Tests share their worker's database and make their own users in it."""

from __future__ import annotations

import contextlib

import asyncpg
import pytest
import pytest_asyncio

from app.store import postgres
from tests.support import servers as run
from tests.support.factories import Make
from tests.support.service import client_of, create_database, serving, settings_for, worker_number
from tests.support.world import WORLD

PROOF_SECONDS = 1_200
"""After so long a proof hangs. Proofs take minutes, and several times that on a busy machine."""


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("prove"):
            item.add_marker(pytest.mark.timeout(PROOF_SECONDS))


def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        run.begin_run()


def pytest_unconfigure(config):
    if not hasattr(config, "workerinput"):
        run.end_run()


@pytest.fixture(scope="session")
def servers():
    """Postgres and Valkey, shared by all workers of the run."""
    return run.use_servers()


@pytest_asyncio.fixture(scope="session")
async def world():
    """The outside world: a web server on loopback that the service may fetch from, and counts who comes."""
    async with WORLD.running():
        yield WORLD


@pytest_asyncio.fixture(scope="session")
async def settings(servers, world):
    """Settings whose addresses lead to this worker's own, migrated database."""
    name = f"worker_{worker_number()}"
    await create_database(servers, name)
    return settings_for(servers, name).model_copy(update={"fetch_allow": [world.authority]})


@pytest_asyncio.fixture(scope="session")
async def database(settings):
    """Pools of the service's three roles, of the tests' own."""
    async with postgres.connected(settings) as pools:
        yield pools


@pytest_asyncio.fixture(scope="session")
async def sql(servers, settings):
    """A superuser's pool on the worker's database, to arrange and to look behind every policy."""
    url = servers.superuser_url(f"worker_{worker_number()}")
    async with asyncpg.create_pool(url, min_size=1, max_size=2) as pool:
        yield pool


@pytest_asyncio.fixture(scope="session")
async def service(settings):
    """The application, running in the tests' event loop."""
    async with serving(settings) as app:
        yield app


@pytest_asyncio.fixture
async def http(service):
    """A client without a credential."""
    async with client_of(service) as client:
        yield client


@pytest.fixture(scope="session")
def make(service, database):
    """Factories."""
    return Make(service, database)


@pytest_asyncio.fixture
async def alice(make):
    """A user with all scopes in a workspace of her own."""
    return await make.user()


@pytest_asyncio.fixture
async def bob(make):
    """Another user, in another workspace."""
    return await make.user()


@pytest_asyncio.fixture(scope="session")
async def twin(settings):
    """A second instance of the application on the same stores, with caches of its own."""
    async with serving(settings) as app:
        yield app


@contextlib.asynccontextmanager
async def one_call_a_minute(settings, database, folder, *features):
    """Factories of an instance whose plan has these features and allows one call of each family a minute."""
    plans = folder / "plans.toml"
    families = "{ scrape = 1, api = 1, readonly = 1 }"
    plans.write_text(
        f"[self-hosted]\nfeatures = {list(features)}\nwindow_seconds = 60\nrates = {families}\n", encoding="utf-8"
    )
    async with serving(settings.model_copy(update={"plans_file": plans})) as app:
        yield Make(app, database)


@pytest_asyncio.fixture(scope="session")
async def strict(settings, database, tmp_path_factory):
    """Factories of an instance whose plans allow one call of each family a minute."""
    async with one_call_a_minute(settings, database, tmp_path_factory.mktemp("plans"), "web_pages") as made:
        yield made
