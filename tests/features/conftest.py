"""The index, driven by the tests themselves."""

from __future__ import annotations

import pytest
import pytest_asyncio

from tests.support.indexing import Index, Recording


@pytest_asyncio.fixture(scope="session")
async def model():
    """The real embedding model, loaded once, noting what it is asked for."""
    made = Recording()
    yield made
    await made.close()


@pytest.fixture
def index(database, sql, model):
    """The search index of this worker's database."""
    model.texts.clear()
    return Index(database, sql, model)
