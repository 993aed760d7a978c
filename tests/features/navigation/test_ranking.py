"""How passages are ranked by words: from the postings alone, then by what is around the best of them."""

from __future__ import annotations

import random
from dataclasses import replace
from uuid import UUID
from zlib import crc32

import numpy as np
import pytest

from app.features.indexing.remote import MiniLM
from app.features.indexing.service import Serving
from app.features.navigation import queries
from app.features.navigation.schemas import Within
from tests.contract.requirements import proves
from tests.features.search import test_plans as plans
from tests.support.indexing import Index, Mute

WORDS = ["lighthouse", "keeper", "lamp", "horn", "fog", "paraffin", "lens", "storm"]
QUERY = " ".join(WORDS)
SERVING = Serving(MiniLM.name, MiniLM.dim, 0)
FEW = 10
WALKED = 400
"""Vectors that the approximate index gives."""


class Scattered(Mute):
    """Holds notes for near to every question, and of other texts each for something else."""

    async def embed(self, texts):
        return [self._of(text) for text in texts]

    def _of(self, text):
        vector = np.random.default_rng(crc32(text.encode())).normal(size=self.dim) * self.dim**-0.5
        vector += 3 * self._vector if "Note" in text else 0
        return (vector / np.linalg.norm(vector)).astype(np.float16)


def said(source):
    """A text with each word of the query or without, as chance has it."""
    return " ".join(["and so on", *(word for word in WORDS if source.random() < 0.2)])


@pytest.fixture
async def shelf(alice, make, database, sql):
    """A book of short passages and a conversation of short turns; their document ids."""
    source = random.Random(3)
    book = "\n\n".join(f"# Part {number}\n\n{said(source)}" for number in range(150))
    talk = "\n\n".join(f"**{'Ann' if number % 2 else 'Bob'}** (3 May): {said(source)}" for number in range(150))
    ids = [(await make.document(alice.client, title="Shelf", content=content))["id"] for content in (book, talk)]
    await Index(database, sql, Mute()).run(alice.workspace_id)
    return ids


@pytest.fixture
async def crowd(make, database):
    """A user with more passages than are told one by one, of tables that were not analyzed since."""
    user = await make.user()
    await plans.fill(database, user, queries._MANY_MEMBERS // plans.PASSAGES + 20)
    return user


@pytest.fixture
def ranked(alice, database):
    """Ranks by words alone: passages with their scores, best first."""

    async def rank(candidates, within=None, seen=()):
        async with database.snapshot(alice.workspace_id) as tx:
            _, *rows = await queries.rank(tx, within or Within(), seen, QUERY, None, SERVING, candidates)
        return sorted(((row["id"], row["words"]) for row in rows), key=lambda row: (-row[1], row[0]))

    return rank


@proves("PD-31")
@pytest.mark.parametrize("which", [0, 1], ids=["passages", "turns"])
async def test_the_first_of_few_candidates_are_the_first_of_all_as_their_neighbours_count(shelf, ranked, which):
    within = Within(document_id=shelf[which])
    every = await ranked(1_000, within)
    assert len(every) > 100
    for candidates in (4, FEW, 2 * FEW):
        few = await ranked(candidates, within)
        assert [item for item, _ in few] == [item for item, _ in every[:candidates]]
        assert [score for _, score in few] == pytest.approx([score for _, score in every[:candidates]])


@proves("PD-31")
async def test_a_turn_beside_the_best_counts_with_what_stands_on_its_other_side(alice, make, database, sql, ranked):
    others = ["Fog horn", "Yes", "No"] * 3 * FEW
    turns = [
        "The lighthouse keeper lamp",
        "Hm",
        "Or so they say who know a horn and fog as well as I do",
        "Oh",
        *others,
    ]
    content = "\n\n".join(f"**{'Ann' if number % 2 else 'Bob'}** (3 May): {turn}" for number, turn in enumerate(turns))
    await make.document(alice.client, title="Talk", content=content)
    await Index(database, sql, Mute()).run(alice.workspace_id)
    (_, first), (_, beside), *_ = await ranked(1_000)
    assert first > beside
    assert [score for _, score in await ranked(2)] == pytest.approx([first, beside])


@proves("PD-31-SESSION")
async def test_what_was_seen_takes_no_place_of_what_was_not(shelf, ranked):
    within = Within(document_id=shelf[0])
    every = [item for item, _ in await ranked(1_000, within)]
    assert [item for item, _ in await ranked(1, within, every[:100])] == every[100:101]


@proves("PD-31-SCOPE", "PD-31-SESSION")
async def test_a_whole_workspace_is_ranked_with_both_until_all_is_seen(shelf, ranked):
    every = {item for which in shelf for item, _ in await ranked(1_000, Within(document_id=which))}
    seen = []
    while found := await ranked(FEW, seen=seen):
        seen += [item for item, _ in found]
    assert len(seen) == len(every)
    assert set(seen) == every


@proves("PD-31-SCOPE")
async def test_a_deleted_document_takes_no_place_before_the_index_has_forgotten_it(alice, shelf, ranked, sql):
    first, others = [{item for item, _ in await ranked(1_000, Within(document_id=item))} for item in reversed(shelf)]
    assert {item for item, _ in await ranked(4)} & first
    (await alice.client.delete(f"/v1/documents/{shelf[1]}")).raise_for_status()
    assert await sql.fetchval("SELECT count(*) FROM chunks WHERE document_id = $1", UUID(shelf[1])) > 100
    found = {item for item, _ in await ranked(4)}
    assert len(found) == 4
    assert found < others


@proves("PD-31-SCOPE")
async def test_a_collection_is_ranked_as_if_it_were_all_however_many_passages_it_has(make, database, crowd):
    async with database.snapshot(crowd.workspace_id) as tx:
        ids = [row["id"] for row in await tx.fetch("SELECT id FROM documents WHERE workspace_id = $1", tx.workspace_id)]

    async def rank(collection=None, reach=None):
        async with database.snapshot(crowd.workspace_id, reach) as tx:
            within = Within(collection_id=collection)
            counted, *rows = await queries.rank(tx, within, [], "term1 term2", None, SERVING)
            documents = await tx.fetch("SELECT id, document_id FROM chunks WHERE id = ANY($1)", [r["id"] for r in rows])
        assert counted["pending"] == 0
        return {row["id"]: row["words"] for row in rows}, {row["document_id"] for row in documents}

    whole = (await rank())[0]
    assert len(whole) > 50
    for some in (ids, ids[:100]):
        made = await make.collection(crowd.client, name="Some")
        for start in range(0, len(some), 100):
            body = {"itemIds": [str(item) for item in some[start : start + 100]], "itemType": "document"}
            (await crowd.client.post(f"/v1/collections/{made['id']}/items", json=body)).raise_for_status()
        collection = UUID(made["id"])
        words, documents = await rank(collection)
        assert documents <= set(some)
        assert words == whole if some is ids else words.items() < whole.items()
        reached, documents = await rank(reach=[collection])
        assert (set(reached), documents <= set(some)) == (set(words), True)


@proves("PD-31")
async def test_only_the_best_passages_are_looked_up(crowd, database):
    statement = queries._ranking(None, in_document=False, in_collection=False, narrowed=False)
    text = " ".join(f"term{number}" for number in range(20))
    nodes = await plans.plan(database, crowd, statement, None, None, [], text, 2)
    read = sum(n["Actual Rows"] * n["Actual Loops"] for n in nodes if n.get("Relation Name", "").startswith("postings"))
    assert read > 500
    chunks = [n["Actual Loops"] for n in nodes if n.get("Relation Name") == "chunks"]
    assert sorted(chunks) == [10, 10]  # five for each candidate, and what is around them
    documents = [n for n in nodes if n.get("Relation Name") == "documents"]
    assert [n["Actual Loops"] for n in documents] == [1] * len(documents)  # to count them, and for those in the trash


@proves("PD-31", "RECALL-MANY")
async def test_what_has_the_words_is_compared_where_the_approximate_index_does_not_come_to_it(
    alice, make, database, sql
):
    notes = "\n\n".join(f"# Part {number}\n\nNote {number}" for number in range(WALKED + 50))
    book = "\n\n".join(f"# Chapter {number}\n\nA zebra" for number in range(5))
    turns = [f"{'The zebra' if number % 3 else 'Hm'} {number}" for number in range(20)]
    talk = "\n\n".join(f"**{'Ann' if number % 2 else 'Bob'}** (3 May): {turn}" for number, turn in enumerate(turns))
    for content in (notes, book, talk):
        await make.document(alice.client, title="Animals", content=content)
    model = Scattered()
    await Index(database, sql, model).run(alice.workspace_id)

    async def meant(*, many):
        async with database.snapshot(alice.workspace_id) as tx:
            serving, vector = replace(SERVING, many=many), await model.embed_query("")
            _, *rows = await queries.rank(tx, Within(), [], "zebra", vector, serving)
        return {row["id"]: (row["near"], row["cosine"]) for row in rows if row["words"] is not None}

    exact = await meant(many=False)
    assert len(exact) == 25
    assert sum(near != cosine for near, cosine in exact.values()) == 20
    assert await meant(many=True) == exact


@proves("PD-31")
async def test_the_score_of_a_turn_is_that_of_its_words_among_turns_whatever_else_there_is(alice, make, database, sql):
    turns = ["Где ключ", "Старый смотритель оставил фонарь у маяка", "Хорошо", "Тогда пойдём туда завтра"]
    talk = "\n\n".join(f"**{'Ann' if number % 2 else 'Bob'}** (3 May): {turn}" for number, turn in enumerate(turns))
    notes = "\n\n".join(f"# Часть {number}\n\nРека несёт гравий на равнину каждую весну" for number in range(60))
    scores = []
    for content in (talk, notes):
        await make.document(alice.client, title="Маяк", content=content)
        await Index(database, sql, Mute()).run(alice.workspace_id)
        body = {"query": "смотритель оставил фонарь"}
        found = (await alice.client.post("/v1/pd/search", json=body)).json()["data"]
        assert found["meta"]["notice"].startswith("Words alone decided")
        scores.append([hit["score"] for hit in found["results"] if turns[1] in hit["content"]])
    assert scores[0] == scores[1]
    assert 0.6 < scores[0][0] < 1


@proves("PD-31")
async def test_passages_are_read_by_the_keys_of_their_documents(crowd, database):
    async with database.snapshot(crowd.workspace_id) as tx:
        some = "SELECT id FROM chunks WHERE workspace_id = $1 AND level = 'paragraph' ORDER BY id LIMIT 200"
        ids = [row["id"] for row in await tx.fetch(some, tx.workspace_id)]
    nodes = await plans.plan(database, crowd, queries._BY_ID, 0, 100, ids, crowd.id)
    documents = [n for n in nodes if n.get("Relation Name") == "documents"]
    assert 0 < sum(n["Actual Rows"] * n["Actual Loops"] for n in documents) <= len(ids)
