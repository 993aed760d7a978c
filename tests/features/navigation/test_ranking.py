"""How passages are ranked by words: from the postings alone, then by what is around the best of them."""

from __future__ import annotations

import random

import pytest

from app.features.indexing.remote import MiniLM
from app.features.indexing.service import Serving
from app.features.navigation import queries
from app.features.navigation.schemas import Within
from tests.contract.requirements import proves
from tests.features.search import test_plans as plans
from tests.support.indexing import Index, Mute

WORDS = "lighthouse keeper lamp horn fog paraffin lens storm".split()
QUERY = " ".join(WORDS)
SERVING = Serving(MiniLM.name, MiniLM.dim, 0)
FEW = 10
tenants = plans.tenants


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
    turns = ["The lighthouse keeper lamp", "Hm", "Or so they say who know a horn and fog as well as I do", "Oh", *others]
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


@proves("PD-31")
async def test_only_the_best_passages_are_looked_up(tenants, database):
    statement = queries._ranking(None, in_document=False, in_collection=False)
    text = " ".join(f"term{number}" for number in range(20))
    nodes = await plans.plan(database, tenants[2], statement, None, None, [], text, 2)
    read = sum(n["Actual Rows"] * n["Actual Loops"] for n in nodes if n.get("Relation Name", "").startswith("postings"))
    assert read > 500
    chunks = [n["Actual Loops"] for n in nodes if n.get("Relation Name") == "chunks"]
    assert sorted(chunks) == [10, 10]  # five for each candidate, and what is around them
    assert [n["Actual Loops"] for n in nodes if n.get("Index Name") == "documents_pkey"] == [10]
