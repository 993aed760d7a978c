"""A passage that stands in several documents takes one place, and names the others."""

from __future__ import annotations

import pytest

from app.features.navigation import queries
from app.store.tx import Tx
from tests.contract.requirements import proves
from tests.edge.mcp.wire import LEGACY_ERA, text_of
from tests.features.search import test_plans as plans
from tests.support.indexing import Index, Mute

TEXT = "The ferry to the island leaves at seven from the old pier, and comes back when the tide allows it. " * 2
QUERY = "ferry to the island"

_ABOUT_FERRIES = """
INSERT INTO postings (workspace_id, level, language, term, chunk_id, tf, length)
SELECT $1, 'paragraph', 'english', 'ferri', id, 2, 8 FROM chunks WHERE workspace_id = $1 AND level = 'paragraph'
"""


async def deep(user, query=QUERY, **options):
    answer = await user.client.post("/v1/pd/search", json={"query": query, **options})
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


@pytest.fixture
def statements(monkeypatch):
    """The statements that transactions fetch by, which are run all the same."""
    ran, fetch = [], Tx.fetch

    async def counted(self, sql, *args):
        ran.append(sql)
        return await fetch(self, sql, *args)

    monkeypatch.setattr(Tx, "fetch", counted)
    return ran


@pytest.fixture
async def shelf(alice, make, index):
    """Two documents that say the same for one passage, and another."""
    for number in (1, 2):
        content = f"# Ferry\n\n{TEXT}\n\n# Own\n\nTimetable number {number} is printed on blue paper."
        await make.document(alice.client, title=f"Timetable {number}", content=content)
    await make.document(alice.client, title="Rules", content="No smoking on the ferry to the island.")
    await index.run(alice.workspace_id)


@proves("PD-COPIES")
@pytest.mark.usefixtures("shelf")
async def test_a_passage_of_several_documents_is_found_once_and_names_the_others(alice):
    found = await deep(alice)
    (folded,) = [hit for hit in found["results"] if hit["content"].strip() == TEXT.strip()]
    (copy,) = folded["copies"]
    assert {folded["documentTitle"], copy["documentTitle"]} == {"Timetable 1", "Timetable 2"}
    read = (await alice.client.get(f"/v1/pd/read/{copy['chunkId']}")).json()["data"]
    assert (read["content"], read["hierarchy"]["documentId"]) == (folded["content"], copy["documentId"])
    assert [hit for hit in found["results"] if "copies" in hit] == [folded]
    assert "moreCopies" not in folded
    text = text_of(await LEGACY_ERA.call(alice.client, "deep_search", {"query": QUERY}))
    assert text.count("Same text: Timetable") == 1


@proves("PD-COPIES", "PD-31-SESSION")
@pytest.mark.usefixtures("shelf")
async def test_a_session_shows_no_copy_of_what_it_has_shown(alice):
    session, seen = {}, []
    while len(results := (found := await deep(alice, limit=1, **session))["results"]):
        seen += [hit["content"].strip() for hit in results]
        session = {"sessionId": found["meta"]["sessionId"]}
        assert len(seen) < 9
    assert seen.count(TEXT.strip()) == 1
    assert len(seen) == len(set(seen))


@proves("PD-COPIES")
async def test_short_passages_stand_for_themselves_and_so_does_a_repeated_one_of_one_document(alice, make, index):
    for _ in range(2):
        await make.document(alice.client, content="The ferry to the island is late.")
    await make.document(alice.client, content=f"# One\n\n{TEXT}\n\n# Two\n\n{TEXT}")
    await index.run(alice.workspace_id)
    found = await deep(alice)
    assert len(found["results"]) == 4
    assert not any("copies" in hit for hit in found["results"])


@proves("PD-COPIES")
async def test_copies_take_no_places_of_others_and_more_is_asked_only_then(alice, make, index, statements):
    for _ in range(130):
        await make.document(alice.client, title="Copy", content=TEXT)
    for number in range(12):
        await make.document(alice.client, title=f"Note {number}", content=f"Note {number}: the pier was old.")
    await index.run(alice.workspace_id)
    found = (await deep(alice, f"{QUERY} at seven from the old pier"))["results"]
    assert len(found) == 10
    (copied,) = [hit for hit in found if hit["documentTitle"] == "Copy"]
    assert (len(copied["copies"]), copied["moreCopies"]) == (20, 109)
    statements.clear()
    assert len((await deep(alice, "note pier", limit=1))["results"]) == 1
    assert len(statements) == 2


@proves("PD-COPIES")
async def test_a_thousand_copies_hide_no_other_text(make, database, sql, monkeypatch):
    user, copies = await make.user(), 1_100
    await plans.fill(database, user, copies, passages=1)
    await sql.execute("UPDATE chunks SET content = $2 WHERE workspace_id = $1", user.workspace_id, TEXT)
    await sql.execute(_ABOUT_FERRIES, user.workspace_id)
    await make.document(user.client, title="Night", content="At night there is no ferry, and nobody waits for one.")
    await Index(database, sql, Mute()).run(user.workspace_id)
    await sql.execute("DELETE FROM vectors WHERE workspace_id = $1", user.workspace_id)
    found = await deep(user, "ferry", limit=2)
    copied, other = found["results"]
    assert (len(copied["copies"]) + copied["moreCopies"], other["documentTitle"]) == (copies - 1, "Night")
    assert "notice" not in found["meta"]
    monkeypatch.setattr(queries, "DEPTHS", (10, 20))
    found = await deep(user, "ferry", limit=2)
    assert len(found["results"]) == 1
    assert found["meta"]["notice"] == "The best 20 candidates are copies of few texts; others may stand behind them."
