"""What search by meaning and words finds, for whom, and in which order."""

from __future__ import annotations

import pytest

from app.features.search import service
from tests.contract.requirements import proves
from tests.edge.mcp.wire import LEGACY_ERA, text_of


async def search(user, q, client=None, **options):
    answer = await (client or user.client).get("/v1/search", params={"q": q, **options})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def titles(user, q, **options):
    return [hit["title"] for hit in (await search(user, q, **options))["data"]["documents"]]


async def test_the_tags_asked_for_must_all_be_there(alice, make, index):
    await make.document(alice.client, title="Both", content="A kettle of copper.", tags=["a", "b"])
    await make.document(alice.client, title="One", content="A kettle of copper.", tags=["a"])
    await make.document(alice.client, title="None", content="A kettle of copper.")
    await index.run(alice.workspace_id)
    assert sorted(await titles(alice, "kettle")) == ["Both", "None", "One"]
    for semantic in ("true", "false"):
        assert sorted(await titles(alice, "kettle", tags="a", semantic=semantic)) == ["Both", "One"]
        assert await titles(alice, "kettle", tags="a,b", semantic=semantic) == ["Both"]
        assert await titles(alice, "kettle", tags="c", semantic=semantic) == []


async def test_tags_are_filtered_before_candidates_are_taken(alice, make, index, sql):
    for number in range(110):
        await make.document(alice.client, title=f"Copper {number}", content="Copper.")
    await make.document(alice.client, title="Last", content="Some " + "filler " * 60 + "copper.", tags=["rare"])
    await index.run(alice.workspace_id)
    assert await titles(alice, "copper", tags="rare") == ["Last"]


async def test_another_tenants_identical_text_never_appears(alice, bob, make, index):
    for user in (alice, bob):
        await make.document(user.client, title="Recipe", content="Dumplings with plums and cinnamon.")
        await index.run(user.workspace_id)
    for semantic in ("true", "false"):
        mine = await search(alice, "plums", semantic=semantic)
        others = await search(bob, "plums", semantic=semantic)
        ids = [answer["data"]["documents"][0]["documentId"] for answer in (mine, others)]
        assert [len(answer["data"]["documents"]) for answer in (mine, others)] == [1, 1]
        assert ids[0] != ids[1]
        own = (await alice.client.get("/v1/documents")).json()["data"]
        assert ids[0] == own[0]["id"]


async def test_a_word_is_as_rare_as_it_is_in_the_own_workspace(alice, bob, make, index):
    texts = {"Walnut": "walnut walnut pear", "Pear": "pear pear walnut"}
    for user, common in ((alice, "walnut"), (bob, "pear")):
        for title, content in texts.items():
            await make.document(user.client, title=title, content=content)
        for number in range(8):
            await make.document(user.client, title=f"{number}", content=f"{common} and {number} more")
        await index.run(user.workspace_id)
    assert (await titles(alice, "walnut pear"))[0] == "Pear"
    assert (await titles(bob, "walnut pear"))[0] == "Walnut"


async def test_the_same_query_gives_the_same_order_also_among_equals(alice, make, index):
    for _ in range(12):
        await make.document(alice.client, title="Twin", content="Twins look the same to everybody.")
    await index.run(alice.workspace_id)
    first = await search(alice, "twins that look the same")
    ids = [hit["documentId"] for hit in first["data"]["documents"]]
    assert ids == sorted(ids)
    assert len(ids) == 12
    for _ in range(3):
        assert await search(alice, "twins that look the same") == first


async def test_nothing_is_found_in_an_empty_workspace(alice):
    answer = await search(alice, "anything")
    assert answer["data"] == {"prompts": [], "documents": [], "collections": []}
    types = ["prompts", "documents", "collections"]
    assert answer["meta"] == {
        "semantic": True,
        "query": "anything",
        "mode": "hybrid",
        "scope": {"types": types, "tags": [], "restricted": False},
        "index": {"total": 0, "pending": 0},
        "pending": 0,
    }


@pytest.mark.parametrize(
    "q", ["the of and", "???", "🙂", "a" * 2000, "word " * 399, "漢字", "' OR 1=1 --", "& | ! <-> :*"]
)
async def test_odd_queries_are_answered(q, alice, make, index):
    await make.document(alice.client, title="Boats", content="The boats of the fishermen are blue.")
    await index.run(alice.workspace_id)
    answer = await search(alice, q)
    assert all(hit["score"] >= 0.35 for hit in answer["data"]["documents"])


@proves("SEARCH-THRESHOLD")
async def test_below_the_threshold_a_hit_needs_a_word_in_common(alice, make, index, monkeypatch):
    texts = {
        "Ferries": "The ferry leaves at noon.",
        "Anchors": "Drop it where sand is deep.",
        "Taxes": "Keep receipts for seven years.",
        "Bread": "Let dough rest overnight.",
        "Boats": "Sails are mended in winter.",
    }
    for title, content in texts.items():
        await make.document(alice.client, title=title, content=content)
    await index.run(alice.workspace_id)

    async def scores(q):
        return {hit["title"]: hit["score"] for hit in (await search(alice, q))["data"]["documents"]}

    question = "vessels that cross water"
    with monkeypatch.context() as lowered:
        lowered.setattr(service, "THRESHOLD", -1.0)
        everything = await scores(question)
    assert everything.keys() == texts.keys()
    kept = {title: score for title, score in everything.items() if score >= 0.35}
    assert 0 < len(kept) < len(texts)
    assert await scores(question) == kept
    dropped = sorted(everything.keys() - kept.keys())
    word = {"Taxes": "receipts", "Bread": "dough", "Boats": "sails", "Anchors": "sand", "Ferries": "noon"}[dropped[0]]
    assert dropped[0] in await scores(f"{question} {word}")


async def test_what_has_nothing_in_common_is_not_found(alice, make, index):
    await make.document(alice.client, title="Boats", content="The boats of the fishermen are blue.")
    await index.run(alice.workspace_id)
    assert await titles(alice, "tax return of a limited company") == []


async def test_a_word_that_matches_is_never_dropped(alice, make, index):
    text = "Xylotomous insects bore into wood. " + "The harvest was plentiful this year. " * 20
    await make.document(alice.client, title="Report", content=text)
    await index.run(alice.workspace_id)
    assert await titles(alice, "xylotomous jurisprudence of maritime insurance") == ["Report"]


@pytest.mark.parametrize("q", ["", " ", "a" * 2001])
async def test_queries_without_words_or_too_long_are_refused(q, alice):
    assert (await alice.client.get("/v1/search", params={"q": q})).status_code == 400


async def test_the_limit_is_kept_and_a_larger_one_is_said_to_be_lowered(alice, make, index):
    for number in range(5):
        await make.document(alice.client, title=f"Fig {number}", content="Figs are sweet.")
    await index.run(alice.workspace_id)
    for semantic in ("true", "false"):
        assert len(await titles(alice, "figs", limit=3, semantic=semantic)) == 3
        over = await search(alice, "figs", limit=5000, semantic=semantic)
        assert len(over["data"]["documents"]) == 5
        assert over["meta"]["notice"] == "limit 5000 is over the cap; at most 100 are returned."
    assert (await alice.client.get("/v1/search", params={"q": "figs", "limit": 0})).status_code == 400


async def test_the_type_decides_what_is_searched(alice, make, index):
    await make.document(alice.client, title="Fig", content="Figs are sweet.")
    await index.run(alice.workspace_id)
    assert await titles(alice, "figs", type="documents") == ["Fig"]
    assert await titles(alice, "figs", type="all") == ["Fig"]
    for other in ("prompts", "collections"):
        answer = await search(alice, "figs", type=other)
        assert answer["data"]["documents"] == []
    assert (await alice.client.get("/v1/search", params={"q": "figs", "type": "pages"})).status_code == 400


async def test_only_what_the_key_may_read_is_searched(alice, make, index):
    await make.document(alice.client, title="Fig", content="Figs are sweet.")
    await index.run(alice.workspace_id)
    prompts = make.client(await make.key(alice, scopes=("prompts.read",)))
    documents = make.client(await make.key(alice, scopes=("documents.read",)))
    neither = make.client(await make.key(alice, scopes=("workspace.read",)))
    for semantic in ("true", "false"):
        hidden = await search(alice, "figs", prompts, semantic=semantic)
        assert hidden["data"]["documents"] == []
        assert hidden["meta"]["pending"] == 0
        shown = await search(alice, "figs", documents, semantic=semantic)
        assert len(shown["data"]["documents"]) == 1
        assert shown["data"]["prompts"] == []
    assert (await neither.get("/v1/search", params={"q": "figs"})).status_code == 403


async def test_what_is_not_indexed_yet_is_counted(alice, make, index):
    await make.document(alice.client, title="Fig", content="Figs are sweet.")
    gone = await make.document(alice.client, title="Fig", content="Figs are sweet.")
    assert (await search(alice, "figs"))["meta"]["pending"] == 2
    await alice.client.delete(f"/v1/documents/{gone['id']}")
    assert (await search(alice, "figs"))["meta"]["pending"] == 1
    await index.run(alice.workspace_id)
    assert (await search(alice, "figs"))["meta"]["pending"] == 0


async def test_the_highlight_is_the_passage_that_holds_the_words(alice, make, index):
    parts = [f"# Part {n}\n\n" + f"Chapter {n} tells of meadows and of hills. " * 8 for n in range(6)]
    parts[4] += "\n\n# Ferry\n\nThe ferryman asks for two silver coins."
    await make.document(alice.client, title="Tales", content="\n\n".join(parts))
    await index.run(alice.workspace_id)
    (hit,) = (await search(alice, "ferryman coins"))["data"]["documents"]
    assert hit["highlight"] == "The ferryman asks for two silver coins."


async def test_a_hit_names_the_section_of_its_passage_and_shows_it_before_the_excerpt(alice, make, index):
    text = "# Report\n\n## Quarter Ships\n\nQ1 280 Q2 330\n\n## Trains\n\nQ1 11 Q2 12"
    document = await make.document(alice.client, title="Report", content=text)
    await index.run(alice.workspace_id)
    (hit,) = (await search(alice, "ships"))["data"]["documents"]
    assert (hit["sectionPath"], hit["highlight"]) == ("Report > Quarter Ships", "Q1 280 Q2 330")
    said = text_of(await LEGACY_ERA.call(alice.client, "find_items", {"query": "ships"}))
    assert f"{document['id']}: Report > Quarter Ships — Q1 280 Q2 330" in said


async def test_a_passage_below_no_heading_has_no_section(alice, make, index):
    await make.document(alice.client, title="Ferry", content="The ferryman asks for two coins.\n\n# Prices\n\nNone.")
    await index.run(alice.workspace_id)
    (hit,) = (await search(alice, "ferryman coins"))["data"]["documents"]
    assert "sectionPath" not in hit


async def test_of_a_document_of_headings_alone_the_heading_is_shown(alice, make, index):
    document = await make.document(alice.client, title="Sheet", content="# Walrus census\n\n## By year")
    await index.run(alice.workspace_id)
    (hit,) = (await search(alice, "walrus"))["data"]["documents"]
    assert (hit["sectionPath"], hit["highlight"]) == ("Walrus census > By year", "## By year")
    said = text_of(await LEGACY_ERA.call(alice.client, "find_items", {"query": "walrus"}))
    assert f"{document['id']}: Walrus census > By year" in said
