"""The service at an https address, people who are signed in there, and clients that they use."""

from __future__ import annotations

import hashlib
import secrets

import httpx2
import pytest
import pytest_asyncio

from app.kit.ids import new_id
from tests.features.oauth.flow import ISSUER, Flow, Person
from tests.support.asgi import Transport
from tests.support.factories import Make
from tests.support.service import serving

_INSERT_SESSION = """
INSERT INTO browser_sessions (id, token_hash, user_id, workspace_id, expires_at)
VALUES ($1, $2, $3, $4, clock_timestamp() + interval '1 day')
"""


def from_somewhere(app):
    """The service as seen from an address that nobody else in the run has, since addresses are counted."""
    address = f"198.18.{secrets.randbelow(256)}.{secrets.randbelow(256)}"

    async def call(scope, receive, send):
        await app({**scope, "client": (address, 1)}, receive, send)

    return Transport(call)


def browser_of(app, session=None):
    cookies = {"__Host-session": session} if session else None
    return httpx2.AsyncClient(transport=from_somewhere(app), base_url=ISSUER, cookies=cookies, follow_redirects=False)


@pytest_asyncio.fixture(scope="session")
async def secure_settings(settings):
    return settings.model_copy(update={"public_url": ISSUER})


@pytest_asyncio.fixture(scope="session")
async def app(secure_settings):
    """The service, as people reach it."""
    async with serving(secure_settings) as made:
        yield made


@pytest_asyncio.fixture(scope="session")
async def other_app(secure_settings):
    """Another process of it."""
    async with serving(secure_settings) as made:
        yield made


@pytest.fixture(scope="session")
def people(app, database):
    """Factories on this service."""
    return Make(app, database)


@pytest.fixture
def signed_in(app, database):
    """A browser that is signed in as a user."""

    async def sign_in(user, on=app):
        session = secrets.token_urlsafe(32)
        values = (new_id(), hashlib.sha256(session.encode()).digest(), user.id, user.workspace_id)
        await database.system_rows(_INSERT_SESSION, *values)
        return Person(user.id, user.workspace_id, user.email, browser_of(on, session))

    return sign_in


@pytest_asyncio.fixture
async def person(people, signed_in):
    """Somebody with a browser."""
    return await signed_in(await people.user())


@pytest_asyncio.fixture
async def flow(person):
    """A registered client in that browser."""
    made = Flow(person.http)
    assert (await made.register()).status_code == 201
    return made


@pytest.fixture
def bearer(app):
    """A client that sends a token."""

    def make(token, on=app):
        return httpx2.AsyncClient(
            transport=Transport(on), base_url=ISSUER, headers={"authorization": f"Bearer {token}"}
        )

    return make
