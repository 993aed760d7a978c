"""Visitors of the pages: by plain HTTP, and in Chromium."""

from __future__ import annotations

import pytest
import pytest_asyncio

from tests.edge.web import shown
from tests.edge.web.chromium import launched
from tests.support.product import Up
from tests.support.visitor import Visitor


@pytest.fixture
def visitor(service):
    """A browser that was never here."""
    return Visitor(service)


@pytest.fixture(scope="session")
def up(tmp_path_factory):
    """The product as a user starts it, with sign-up open; each test may come from addresses of its own."""
    started = Up(tmp_path_factory.mktemp("browser"), SIGNUP="open", TRUSTED_PROXIES="127.0.0.1")
    try:
        started.start()
        yield started
    finally:
        started.stop()


@pytest_asyncio.fixture(scope="session")
async def browser():
    """Chromium, of the machine."""
    async with launched() as running:
        yield running


@pytest_asyncio.fixture(scope="session")
async def signed_in(up, browser):
    """The state of a browser that signed in by the link of the first start, without scripts."""
    state = await shown.signed_in_by(shown.World(up, browser, {}, {}), up.first_link())
    (cookie,) = [cookie for cookie in state["cookies"] if cookie["name"] == "session"]
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Lax", "/")
    return state


@pytest_asyncio.fixture(scope="session")
async def scene(up, browser, signed_in):
    """A service with some life in it."""
    return await shown.made(up, browser, signed_in)
