"""The service with an external issuer, and people who have tokens of it."""

from __future__ import annotations

import secrets

import pytest
import pytest_asyncio

from tests.support.issuer import little_issuer
from tests.support.service import BASE_URL, client_of, serving

V1 = f"{BASE_URL}/v1"


def trusting(settings, issuer, **more):
    return settings.model_copy(update={"auth_issuer": issuer.url, "signup": "open"} | more)


@pytest.fixture(scope="session")
def issuer():
    """An issuer that changes nothing while the tests run."""
    with little_issuer() as made:
        made.rotate("RS256")
        yield made


@pytest_asyncio.fixture(scope="session")
async def guest_app(settings, issuer):
    """The service, where everybody whom the issuer knows may have an account."""
    async with serving(trusting(settings, issuer)) as app:
        yield app


@pytest.fixture
def changing():
    """An issuer that may be changed."""
    with little_issuer() as made:
        yield made


@pytest_asyncio.fixture
async def fresh_app(settings, changing):
    """The service with that issuer and nothing in its caches."""
    async with serving(trusting(settings, changing)) as app:
        yield app


@pytest.fixture
def caller():
    """A client with a token, at an address of its own."""

    def make(app, token):
        address = f"198.18.{secrets.randbelow(256)}.{secrets.randbelow(256)}"
        return client_of(app, f"Bearer {token}", **{"x-forwarded-for": address})

    return make
