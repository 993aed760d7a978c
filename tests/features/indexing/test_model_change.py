"""From one endpoint of vectors to another: the old one answers until the new one has them all."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from pydantic import SecretStr, ValidationError

from app.features.indexing import serving as served
from app.features.indexing.endpoint import embedders_of
from app.features.indexing.serving import refill
from app.gate.limiter import Limiter
from app.settings import Settings
from tests.contract.requirements import proves
from tests.support.embeddings import little_endpoint
from tests.support.factories import Make
from tests.support.indexing import Index, Mute
from tests.support.service import serving

WORD, ANAGRAM = "listen", "silent"
"""To the little endpoints an anagram means the same, and no word is in common: only vectors find it."""


@pytest.fixture
def endpoints(monkeypatch):
    """Two endpoints with models, lengths and keys of their own; how to end the first; nothing is remembered."""
    monkeypatch.setattr(served, "_CACHE_SECONDS", 0.0)
    with contextlib.ExitStack() as first, little_endpoint() as new:
        old = first.enter_context(little_endpoint())
        new.dim = 128
        yield old, new, first.close


def terms(settings, endpoint, name, **more):
    values = {
        "embeddings_url": endpoint.url,
        "embeddings_model": name,
        "embeddings_dimensions": endpoint.dim,
        "embeddings_api_key": SecretStr(f"sk-{name}"),
        "embeddings_seconds": 5.0,
        "embeddings_tries": 1,
    }
    return settings.model_copy(update=values | more)


def changed(settings, old, new):
    previous = terms(settings, old, "old", embeddings_input_type=True)
    names = ("url", "model", "dimensions", "api_key", "input_type")
    return terms(
        settings,
        new,
        "new",
        **{f"embeddings_previous_{name}": getattr(previous, f"embeddings_{name}") for name in names},
    )


@contextlib.asynccontextmanager
async def running(settings, database, sql):
    """The service on settings, and the worker's part of the index on the same."""
    embedders = embedders_of(settings, Mute(), Limiter(None))
    async with serving(settings) as app:
        yield Make(app, database), Index(database, sql, embedders)
    await embedders.close()


async def found(client, query):
    answer = await client.get("/v1/search", params={"q": query})
    assert answer.status_code == 200, answer.text
    return {hit["title"] for hit in answer.json()["data"]["documents"]}


def asked_with(endpoint):
    return {headers["authorization"] for headers in endpoint.headers}


async def kept_by_old(settings, old, database, sql, make):
    """Have a user's document indexed by the old endpoint."""
    async with running(terms(settings, old, "old"), database, sql) as (_, index):
        user = await make.user()
        await make.document(user.client, title="First", content=WORD)
        await index.run(user.workspace_id)
    return user


@proves("EMBED-CHANGE")
async def test_the_endpoint_before_answers_with_its_own_key_until_the_new_one_has_every_vector(
    settings, endpoints, database, sql, make
):
    old, new, _ = endpoints
    user = await kept_by_old(settings, old, database, sql, make)
    old.asked.clear()
    async with running(changed(settings, old, new), database, sql) as (later, index):
        client = later.client(await later.key(user))
        assert await found(client, ANAGRAM) == {"First"}
        assert ([sent["input_type"] for sent in old.asked], new.asked) == (["query"], [])
        await later.document(client, title="Second", content=WORD)
        await index.run(user.workspace_id)
        assert await found(client, ANAGRAM) == {"First", "Second"}
        while await refill(database, index.embedder, user.workspace_id):
            assert await found(client, ANAGRAM) == {"First", "Second"}
        old.asked.clear()
        new.asked.clear()
        assert await found(client, ANAGRAM) == {"First", "Second"}
        assert (new.texts, old.asked) == ([ANAGRAM], [])
    assert (asked_with(old), asked_with(new)) == ({"Bearer sk-old"}, {"Bearer sk-new"})


@proves("EMBED-CHANGE")
async def test_where_the_endpoint_before_is_dead_words_answer_until_the_new_one_has_every_vector(
    settings, endpoints, database, sql, make
):
    old, new, end = endpoints
    user = await kept_by_old(settings, old, database, sql, make)
    async with running(changed(settings, old, new), database, sql) as (later, index):
        client = later.client(await later.key(user))
        end()
        await later.document(client, title="Second", content=WORD)
        await index.run(user.workspace_id)
        assert (await found(client, WORD), await found(client, ANAGRAM)) == ({"First", "Second"}, set())
        while await refill(database, index.embedder, user.workspace_id):
            assert await found(client, WORD) == {"First", "Second"}
        assert await found(client, ANAGRAM) == {"First", "Second"}
        assert asked_with(new) == {"Bearer sk-new"}


@proves("EMBED-CHANGE")
async def test_the_way_back_to_the_built_in_model_is_the_same(settings, endpoints, database, sql, make):
    old, _, _ = endpoints
    user = await kept_by_old(settings, old, database, sql, make)
    back = settings.model_copy(
        update={
            "embeddings_previous_url": old.url,
            "embeddings_previous_model": "old",
            "embeddings_previous_dimensions": old.dim,
        }
    )
    async with running(back, database, sql) as (later, index):
        client = later.client(await later.key(user))
        assert await found(client, ANAGRAM) == {"First"}
        while await refill(database, index.embedder, user.workspace_id):
            assert await found(client, WORD) == {"First"}
        old.asked.clear()
        assert (await found(client, WORD), old.asked) == ({"First"}, [])


@proves("EMBED-CHANGE")
async def test_another_name_for_the_same_model_embeds_nothing_again(settings, endpoints, database, sql, make):
    old, _, _ = endpoints
    user = await kept_by_old(settings, old, database, sql, make)
    old.asked.clear()
    renamed = terms(settings, old, "vendor/old", embeddings_kept_as="old")
    async with running(renamed, database, sql) as (later, index):
        client = later.client(await later.key(user))
        assert not await refill(database, index.embedder, user.workspace_id)
        assert await found(client, ANAGRAM) == {"First"}
    assert [(sent["model"], sent["input"]) for sent in old.asked] == [("vendor/old", [ANAGRAM])]


class Asleep(Mute):
    """A model that does not wake up."""

    async def embed_query(self, _text):
        await asyncio.Event().wait()


async def test_who_searches_does_not_wait_for_a_model_that_hangs(monkeypatch):
    monkeypatch.setattr(served, "QUERY_SECONDS", 0.05)
    embedders = served.Embedders(Asleep())
    given = served.Serving(Asleep.name, Asleep.dim, 0)
    async with asyncio.timeout(10):
        assert await embedders.embed_query(given, "x") is None


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"embeddings_previous_model": "m"}, "EMBEDDINGS_PREVIOUS_DIMENSIONS"),
        ({"embeddings_previous_model": "m", "embeddings_previous_dimensions": 8}, "EMBEDDINGS_PREVIOUS_URL"),
        ({"embeddings_previous_url": "https://api.example.test/v1"}, "EMBEDDINGS_PREVIOUS_MODEL"),
        ({"embeddings_previous_url": "ftp://x"}, "EMBEDDINGS_PREVIOUS_URL must be the base"),
    ],
    ids=["no dimensions", "no address", "no model", "no endpoint"],
)
def test_what_lacks_of_the_endpoint_before_is_named(given, named):
    with pytest.raises(ValidationError, match=named):
        Settings(**given)
