"""How hits are ranked: two statements, copies once, turns of conversations, terms that are read again."""

from __future__ import annotations

import pytest

from app.features.indexing.service import Embedders
from app.store.tx import Tx

CHAT = """\
**Ann** (3 May 2024): Did you get a pet after all?

**Bob** (3 May 2024): I did! She is a tabby, and she is called Waffles.

**Ann** (3 May 2024): Lovely. I have to leave for the dentist now.

**Bob** (4 May 2024): My sister moved to Lisbon last week.
"""


async def documents(user, q, **params):
    answer = await user.client.get("/v1/search", params={"q": q, "type": "documents"} | params)
    return answer.raise_for_status().json()["data"]["documents"]


async def passages(user, query, **body):
    answer = await user.client.post("/v1/pd/search", json={"query": query} | body)
    return answer.raise_for_status().json()["data"]["results"]


@pytest.fixture
def counted(monkeypatch):
    """Count statements and embeddings, which are carried out all the same."""
    counts = {"statements": 0, "embeddings": 0}

    def count(owner, name, what):
        plain = getattr(owner, name)

        async def spy(*args, **kwargs):
            counts[what] += 1
            return await plain(*args, **kwargs)

        monkeypatch.setattr(owner, name, spy)

    for name in ("fetch", "fetchrow", "fetchval", "execute"):
        count(Tx, name, "statements")
    count(Embedders, "embed_query", "embeddings")
    return counts


async def test_a_search_is_one_embedding_and_two_statements(alice, make, index, counted):
    await make.document(alice.client, title="Kettle", content="Boil the water, then the tea.")
    (
        await alice.client.post("/v1/prompts", json={"title": "Tea", "description": "", "content": "Boil it"})
    ).raise_for_status()
    (await alice.client.post("/v1/collections", json={"name": "Tea things"})).raise_for_status()
    await index.run(alice.workspace_id)
    await documents(alice, "tea")  # whose vectors serve is remembered for some seconds
    for call in (
        alice.client.get("/v1/search", params={"q": "boil tea"}),
        alice.client.post("/v1/pd/search", json={"query": "boil tea"}),
    ):
        counted.update(statements=0, embeddings=0)
        assert "Kettle" in (await call).text
        assert counted == {"statements": 2, "embeddings": 1}


async def test_few_hits_among_many_documents_cost_no_second_look(alice, make, index, counted):
    for number in range(120):
        await make.document(alice.client, title=f"Tale {number}", content=f"Tale {number} is of a fox and a hen.")
    await make.document(alice.client, title="Ledger", content="Invoices are kept for ten years.")
    await index.run(alice.workspace_id)
    await documents(alice, "tale")  # whose vectors serve is remembered for some seconds
    counted.update(statements=0, embeddings=0)
    assert [hit["title"] for hit in await documents(alice, "invoices")] == ["Ledger"]
    assert counted == {"statements": 2, "embeddings": 1}


async def test_a_text_that_is_there_several_times_is_found_once(alice, make, index):
    text = "The ferry to the island leaves at seven from the old pier, and comes back when the tide allows it. " * 3
    ids = [(await make.document(alice.client, title="Ferry", content=content))["id"] for content in (text, text)]
    other = await make.document(alice.client, title="Ferry rules", content="On the ferry to the island, no smoking.")
    await index.run(alice.workspace_id)
    hits = await documents(alice, "ferry to the island")
    assert len(hits) == 2
    folded = next(hit for hit in hits if hit["documentId"] in ids)
    assert {folded["documentId"], *(copy["documentId"] for copy in folded["copies"])} == set(ids)
    single = next(hit for hit in hits if hit["documentId"] == other["id"])
    assert "copies" not in single
    assert len(await documents(alice, "ferry to the island", limit=1)) == 1


async def test_texts_that_differ_in_a_number_are_no_copies(alice, make, index):
    text = (
        "The supplier delivers on time. For each day of delay a penalty of {} euros is due, without any reminder. " * 2
    )
    for euros in ("one hundred", "9000", "250000"):
        await make.document(alice.client, title=f"Penalty {euros}", content=text.format(euros, euros))
    await index.run(alice.workspace_id)
    assert len(await documents(alice, "penalty for delay")) == 3


async def test_copies_do_not_take_the_places_of_others(alice, make, index):
    text = (
        "The supplier contract names a penalty for late delivery by lorry, and who pays it to whom at which time. " * 2
    )
    for _ in range(130):
        await make.document(alice.client, title="Copy", content=text)
    for number in range(12):
        await make.document(
            alice.client,
            title=f"Note {number}",
            content=f"Delivery note {number}: the lorry came, the supplier signed.",
        )
    await index.run(alice.workspace_id)
    hits = await documents(alice, "supplier penalty for delivery by lorry", limit=10)
    assert len(hits) == 10
    (copied,) = [hit for hit in hits if hit["title"] == "Copy"]
    assert (len(copied["copies"]), copied["moreCopies"]) == (20, 109)


async def test_a_crowd_of_copies_is_looked_behind_and_told(alice, make, index, monkeypatch):
    text = "The glacier survey of the north face names the ice that was lost in each of the last seven summers. " * 2
    for _ in range(40):
        await make.document(alice.client, title="Survey", content=text)
    await make.document(alice.client, title="Diary", content="We walked up to the glacier and had bread.")
    await index.run(alice.workspace_id)
    for deeper, titles in (((10, 20, 100), ["Survey", "Diary"]), ((10, 20, 30), ["Survey"])):
        monkeypatch.setattr("app.features.search.ranking.queries.DEPTHS", deeper)
        answer = (await alice.client.get("/v1/search", params={"q": "glacier survey"})).json()
        assert [hit["title"] for hit in answer["data"]["documents"]] == titles
        assert ("Copies of few texts" in (answer["meta"].get("notice") or "")) == (titles == ["Survey"])


async def test_a_word_that_only_one_has_yields_to_what_is_meant(alice, make, index):
    texts = {
        "Parental leave": "Each parent may be absent from work for forty weeks after the birth of a baby, with pay.",
        "Pricing experiment": "The new price was shown to a half of the visitors for two weeks.",
        "Bakery": "The interview with the baker: rye, water and salt.",
        "Harbour": "The crane lifts containers from the ship.",
    }
    for title, content in texts.items():
        await make.document(alice.client, title=title, content=content)
    await index.run(alice.workspace_id)
    hits = await documents(alice, "how long can new mothers stay at home")
    assert hits[0]["title"] == "Parental leave"


async def test_a_search_that_finds_nothing_names_the_next_step(alice, make, index):
    await make.document(
        alice.client, title="Rezept", content="Die Uniformmütze ist nicht im Schrank und auch nicht hier."
    )
    await index.run(alice.workspace_id)
    answer = (await alice.client.get("/v1/search", params={"q": "xylophon"})).json()
    assert answer["data"]["documents"] == []
    assert "semantic=false" in answer["meta"]["notice"]


async def test_collections_are_pending_while_their_members_are(alice, make, index):
    item = await make.document(alice.client, title="Whale", content="The narwhal has a tusk.")
    await make.collection(alice.client, name="Zoo", items=[item["id"]])
    for semantic in ("true", "false"):
        meta = (
            await alice.client.get("/v1/search", params={"q": "tusk", "type": "collections", "semantic": semantic})
        ).json()
        assert meta["meta"]["index"] == {"total": 2, "pending": 2}
    await index.run(alice.workspace_id)
    meta = (await alice.client.get("/v1/search", params={"q": "tusk", "type": "collections"})).json()["meta"]
    assert meta["index"] == {"total": 2, "pending": 0}


async def test_a_turn_is_a_passage_and_is_found_by_what_was_asked_before_it(alice, make, index):
    made = await make.document(alice.client, title="Chat", content=CHAT)
    await index.run(alice.workspace_id)
    found = await passages(alice, "which pet did Bob get", documentId=made["id"])
    assert len(found) == 4
    assert {hit["content"].split("\n")[0] for hit in found} == set(CHAT.strip().split("\n\n"))
    # It has one word of the question, the turn before has the others.
    assert any("Waffles" in hit["content"] for hit in found[:2])
    assert (await passages(alice, "Lisbon"))[0]["content"].startswith("**Bob** (4 May 2024)")


async def test_terms_are_read_again_when_the_index_has_another_form(alice, make, index, sql):
    made = await make.document(alice.client, title="Kettle", content="Boil the water.")
    await index.run(alice.workspace_id)
    own = (alice.workspace_id,)
    before = await sql.fetch("SELECT * FROM postings WHERE workspace_id = $1 ORDER BY level, term", *own)
    statistics = await sql.fetch("SELECT * FROM index_statistics WHERE workspace_id = $1 ORDER BY level", *own)
    await sql.execute("UPDATE postings SET term = term || 'old' WHERE workspace_id = $1", *own)
    await sql.execute("UPDATE documents SET chunked_revision = 0, indexed_revision = 0 WHERE workspace_id = $1", *own)
    assert (await documents(alice, "kettle"))[0]["documentId"] == made["id"]  # its vectors serve meanwhile
    await index.run(alice.workspace_id)
    again = await sql.fetch("SELECT * FROM postings WHERE workspace_id = $1 ORDER BY level, term", *own)
    assert again == before
    assert statistics == await sql.fetch("SELECT * FROM index_statistics WHERE workspace_id = $1 ORDER BY level", *own)
