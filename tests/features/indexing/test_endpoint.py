"""Vectors from a real HTTP server, one that is away, and the change from one model to another."""

from __future__ import annotations

import pytest
import pytest_asyncio
from pydantic import SecretStr, ValidationError

from app.features.indexing.endpoint import Endpoint, embedders_of
from app.features.indexing.remote import EmbeddingFailed
from app.features.indexing.serving import refill
from app.features.indexing.slots import queries as slots
from app.gate.limiter import Limiter
from app.settings import Settings
from tests.contract.requirements import proves
from tests.support.embeddings import little_endpoint
from tests.support.factories import Make
from tests.support.indexing import Index, Mute
from tests.support.service import serving

TEXT = "The harbour master of Vik is Ada Lund."


@pytest.fixture
def endpoint():
    with little_endpoint() as running:
        yield running


@pytest.fixture
def terms(settings, endpoint):
    def given(**more):
        values = {
            "embeddings_url": endpoint.url + "/",
            "embeddings_model": "letters-1",
            "embeddings_dimensions": 256,
            "embeddings_api_key": SecretStr("sk-secret"),
            "embeddings_seconds": 5.0,
            "embeddings_tries": 2,
            "embeddings_batch": 2,
        }
        return settings.model_copy(update=values | more)

    return given


@pytest_asyncio.fixture
async def lettered(terms):
    made = []

    def give(**more):
        made.append(Endpoint.of(terms(**more), Limiter(None)))
        return made[-1]

    yield give
    for each in made:
        await each.close()


@proves("EMBED-ENDPOINT")
async def test_batches_go_out_in_order_with_key_and_input_type(lettered, endpoint):
    vectors = await lettered(embeddings_input_type=True).embed(["a b", "b", ""])
    assert [(sent["model"], sent["input"], sent["input_type"]) for sent in endpoint.asked] == [
        ("letters-1", ["a b", "b"], "document"),
        ("letters-1", [" "], "document"),
    ]
    assert endpoint.headers[0]["authorization"] == "Bearer sk-secret"
    assert [round(float((vector.astype(float) ** 2).sum()), 2) for vector in vectors] == [1.0] * 3
    assert (await lettered().embed_query("b") == vectors[1]).all()
    assert "input_type" not in endpoint.asked[-1]


@proves("EMBED-ENDPOINT")
async def test_what_fails_is_tried_again_where_that_may_help_and_spends_its_budget_before(lettered, endpoint):
    endpoint.failures = 1
    await lettered().embed(["a"])
    assert len(endpoint.asked) == 2
    endpoint.status = 401
    with pytest.raises(EmbeddingFailed, match="status 401"):
        await lettered().embed(["a"])
    assert len(endpoint.asked) == 3
    endpoint.status, endpoint.dim = 200, 8
    with pytest.raises(EmbeddingFailed, match="8 numbers"):
        await lettered().embed(["a"])
    endpoint.dim = 256
    poor = lettered(embeddings_calls_per_day=1)
    await poor.embed(["a"])
    asked = len(endpoint.asked)
    with pytest.raises(EmbeddingFailed, match="spent"):
        await poor.embed(["a"])
    assert len(endpoint.asked) == asked


def test_an_endpoint_needs_model_and_dimensions():
    with pytest.raises(ValidationError, match="EMBEDDINGS_MODEL"):
        Settings(embeddings_url="https://api.example.test/v1")


@proves("EMBED-AWAY")
async def test_a_dead_endpoint_leaves_documents_pending_and_words_find_them(terms, endpoint, database, sql):
    endpoint.status = 500
    given = terms(embeddings_tries=1)
    async with serving(given) as app:
        make = Make(app, database)
        user = await make.user()
        made = await make.document(user.client, title="Harbour", content=TEXT)
        index = Index(database, sql, embedders_of(given, Mute(), Limiter(None)))
        await index.run(user.workspace_id)
        read = (await user.client.get(f"/v1/documents/{made['id']}")).json()["data"]
        assert read["status"] == "pending"
        assert "status 500" in read["statusReason"]
        for semantic in ("true", "false"):
            found = (await user.client.get("/v1/search", params={"q": "harbour", "semantic": semantic})).json()
            assert found["data"]["documents"][0]["documentId"] == made["id"]
            assert found["meta"]["pending"] == 1
        passages = await user.client.post("/v1/pd/search", json={"query": "Ada Lund"})
        assert passages.json()["data"]["results"][0]["documentId"] == made["id"]
        endpoint.status = 200
        await sql.execute("UPDATE documents SET index_claimed_until = NULL WHERE id = $1", made["id"])
        await index.run(user.workspace_id)
        assert await index.status(made["id"]) == ("ready", None)
        await index.embedder.close()


@proves("EMBED-CHANGE")
async def test_a_model_change_fills_the_other_slot_while_the_old_one_serves(
    terms, endpoint, alice, make, database, sql
):
    old = Index(database, sql, Mute())
    made = [await make.document(alice.client, title=f"Text {n}", content=f"{TEXT} Number {n}.") for n in range(70)]
    await make.prompt(alice.client, title="Ask", content="Who?")
    await old.run(alice.workspace_id)
    embedders = embedders_of(terms(embeddings_batch=64), Mute(), Limiter(None))
    assert alice.workspace_id in await slots.list_changing_workspaces(database, embedders.current.name)
    new = Index(database, sql, embedders)
    late = await make.document(alice.client, title="Late", content="It came while the slot was being filled.")
    await new.run(alice.workspace_id)
    assert (await new.status(late["id"]), endpoint.asked) == (("ready", None), [])  # the old model serves it
    endpoint.status = 500
    assert not await refill(database, embedders, alice.workspace_id)
    found = (await alice.client.get("/v1/search", params={"q": "harbour"})).json()["data"]["documents"]
    assert len(found) == 20
    endpoint.status = 200
    endpoint.asked.clear()
    while await refill(database, embedders, alice.workspace_id):
        await new.run(alice.workspace_id)
    await new.run(alice.workspace_id)
    assert len(endpoint.texts) == len(set(endpoint.texts)) == 72  # each document once (its only passage), the prompt
    row = await sql.fetchrow("SELECT model, slot FROM vector_models WHERE workspace_id = $1", alice.workspace_id)
    assert tuple(row) == ("letters-1@256", 1)
    assert {await new.status(document["id"]) for document in [*made, late]} == {("ready", None)}
    count = "SELECT count(*) FROM vectors WHERE workspace_id = $1 AND slot = $2"
    assert await sql.fetchval(count, alice.workspace_id, 0) == 72  # for other processes, for a minute
    await sql.execute(
        "UPDATE vector_models SET changed_at = changed_at - interval '2 minutes' WHERE workspace_id = $1",
        alice.workspace_id,
    )
    assert not await refill(database, embedders, alice.workspace_id)
    assert [await sql.fetchval(count, alice.workspace_id, slot) for slot in (0, 1)] == [0, 72]
    assert alice.workspace_id not in await slots.list_changing_workspaces(database, embedders.current.name)
    await embedders.close()


@proves("EMBED-INCREMENT")
async def test_an_edit_of_one_of_200_sections_embeds_its_passages_alone(alice, make, index):
    sections = [
        f"## Part {n}\n\nParagraph {n} speaks of ship {n} and its {n} sailors at some length." for n in range(200)
    ]
    document = await make.document(alice.client, title="Log", content="\n\n".join(sections))
    await index.run(alice.workspace_id)
    index.embedder.texts.clear()
    sections[117] = sections[117].replace("sailors", "passengers")
    await alice.client.patch(f"/v1/documents/{document['id']}", json={"content": "\n\n".join(sections)})
    await index.run(alice.workspace_id)
    changed = [text for text in index.embedder.texts if "117" in text and "passengers" in text]
    assert len(index.embedder.texts) <= len(changed) + 1  # and the document as a whole
