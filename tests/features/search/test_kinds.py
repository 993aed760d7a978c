"""Search over prompts, documents and collections together, over both wires."""

from __future__ import annotations

import json

import pytest

from app.features.indexing.items.service import index_items
from app.features.indexing.service import Embedders
from tests.contract.requirements import proves
from tests.edge.mcp.wire import LEGACY_ERA, text_of

BOTH_MODES = ["true", "false"]


async def search(client, q, **options):
    answer = await client.get("/v1/search", params={"q": q, **options})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def found(client, q, **options):
    """The ids that are found, by type."""
    data = (await search(client, q, **options))["data"]
    return {kind: [hit[f"{kind.removesuffix('s')}Id"] for hit in hits] for kind, hits in data.items()}


async def shelf(user, make, **fields):
    """One item of each kind about the same thing."""
    prompt = await make.prompt(
        user.client,
        title="Ask about kettles",
        description="For shops.",
        content="Which kettle boils fastest?",
        **fields,
    )
    document = await make.document(
        user.client, title="Kettle care", content="Descale the kettle with vinegar.", **fields
    )
    collection = await make.collection(user.client, name="Kettles", description="All that boils water.", **fields)
    return {"prompts": [prompt["id"]], "documents": [document["id"]], "collections": [collection["id"]]}


@proves("SEARCH-KINDS")
@pytest.mark.parametrize("semantic", BOTH_MODES)
async def test_all_kinds_are_found_and_type_and_tags_narrow_them(semantic, alice, make, index):
    tagged = await shelf(alice, make, tags=["tea", "metal"])
    plain = await shelf(alice, make, tags=["tea"])
    await index.run(alice.workspace_id)
    everything = await found(alice.client, "kettle", semantic=semantic)
    assert {kind: sorted(ids) for kind, ids in everything.items()} == {
        kind: sorted([*tagged[kind], *plain[kind]]) for kind in tagged
    }
    assert await found(alice.client, "kettle", semantic=semantic, tags="tea,metal") == tagged
    for kind in tagged:
        only = await found(alice.client, "kettle", semantic=semantic, type=kind, tags="metal")
        assert only == {other: ids if other == kind else [] for other, ids in tagged.items()}
    assert await index.faults(alice.workspace_id) == []


@proves("SEARCH-KINDS")
async def test_hits_have_the_fields_of_their_kind(alice, make, index):
    ids = await shelf(alice, make)
    await index.run(alice.workspace_id)
    data = (await search(alice.client, "kettle"))["data"]
    (prompt,), (document,), (collection,) = data["prompts"], data["documents"], data["collections"]
    assert prompt == {
        "promptId": ids["prompts"][0],
        "title": "Ask about kettles",
        "description": "For shops.",
        "score": prompt["score"],
    }
    assert {"documentId", "title", "score", "status", "highlight", "chunkId"} == document.keys()
    assert collection == {
        "collectionId": ids["collections"][0],
        "name": "Kettles",
        "description": "All that boils water.",
        "score": collection["score"],
    }
    assert all(0.35 <= hit["score"] <= 1 for hit in (prompt, document, collection))
    literal = (await search(alice.client, "kettle", semantic="false"))["data"]
    assert not any("score" in hit for hits in literal.values() for hit in hits)


@proves("SEARCH-TEXT-100")
async def test_the_text_shows_the_beginning_of_a_description_and_the_body_all_of_it(alice, make, index):
    said = "About kettles " + "x" * 200
    await make.prompt(alice.client, title="Kettles", description=said, content="c")
    await make.collection(alice.client, name="Kettles", description=said)
    await index.run(alice.workspace_id)
    result = await LEGACY_ERA.call(alice.client, "find_items", {"query": "kettles"})
    shown = [line.strip() for line in text_of(result).splitlines() if "xxx" in line]
    assert shown == [f"Description (stored text): {said[:99]}…"] * 2
    hits = result["structuredContent"]["data"]
    assert [hit["description"] for hit in (*hits["prompts"], *hits["collections"])] == [said] * 2


async def test_prompts_and_collections_are_found_by_meaning(alice, make, index):
    wanted = await make.prompt(alice.client, title="Fog", description="", content="Sound the horn for ships in mist.")
    await make.prompt(alice.client, title="Taxes", description="", content="Sum up the invoices of the year.")
    near = await make.collection(alice.client, name="Recipes", description="Soups, breads and cakes.")
    await make.collection(alice.client, name="Lawsuits", description="Letters from courts.")
    await index.run(alice.workspace_id)
    assert (await found(alice.client, "warning vessels in low visibility"))["prompts"][0] == wanted["id"]
    assert (await found(alice.client, "what to cook for dinner", type="collections"))["collections"][0] == near["id"]


async def test_the_text_of_a_prompt_is_searched_to_its_end(alice, make, index):
    words = " ".join(f"w{number}" for number in range(40_000))
    prompt = await make.prompt(alice.client, title="Long", content=f"{words} xylotomous")
    for semantic in ("false", "true"):
        assert (await found(alice.client, "xylotomous", semantic=semantic))["prompts"] == [prompt["id"]]
        await index.run(alice.workspace_id)


@proves("SEARCH-LITERAL")
async def test_literal_search_sees_every_kind_before_it_is_indexed(alice, make):
    ids = await shelf(alice, make)
    assert await found(alice.client, "KETTLE", semantic="false") == ids
    assert (await found(alice.client, "boils fastest?", semantic="false"))["prompts"] == ids["prompts"]
    assert (await found(alice.client, "for shops.", semantic="false"))["prompts"] == ids["prompts"]
    assert (await found(alice.client, "boils water", semantic="false"))["collections"] == ids["collections"]
    assert await found(alice.client, "kettle%", semantic="false") == {kind: [] for kind in ids}


@proves("SEARCH-FRESH")
async def test_changes_are_found_and_what_was_there_is_not(alice, make, index):
    ids = await shelf(alice, make)
    await index.run(alice.workspace_id)
    for path, change in {
        f"/v1/prompts/{ids['prompts'][0]}": {"title": "Lamps", "content": "Which lamp is brightest?"},
        f"/v1/collections/{ids['collections'][0]}": {"name": "Lamps", "description": "All that shines."},
    }.items():
        (await alice.client.patch(path, json=change)).raise_for_status()
    pending = (await search(alice.client, "lamp"))["meta"]["index"]
    assert pending == {"total": 3, "pending": 2}
    await index.run(alice.workspace_id)
    lamps, kettles = await found(alice.client, "lamps"), await found(alice.client, "kettle")
    assert (lamps["prompts"], lamps["collections"]) == (ids["prompts"], ids["collections"])
    assert kettles["prompts"] == []
    assert await index.items_with(alice.workspace_id, "kettl") == set()
    assert await index.items_with(alice.workspace_id, "lamp") == {*ids["prompts"], *ids["collections"]}
    assert await index.faults(alice.workspace_id) == []
    assert await index.statistics(alice.workspace_id) == await index.recount(alice.workspace_id)


@proves("SEARCH-FRESH")
async def test_deleted_items_leave_restored_ones_return_and_purged_ones_leave_nothing(alice, make, index):
    ids = await shelf(alice, make)
    await index.run(alice.workspace_id)
    addresses = {kind: f"/v1/{kind}/{ids[kind][0]}" for kind in ("prompts", "collections")}
    for kind, path in addresses.items():
        assert (await alice.client.delete(path)).status_code == 204
        for semantic in BOTH_MODES:
            assert (await found(alice.client, "kettle", semantic=semantic))[kind] == []
    await index.run(alice.workspace_id)
    assert await index.count("index_entries", alice.workspace_id) == 0
    assert await index.faults(alice.workspace_id) == []
    for kind in addresses:
        (await alice.client.post(f"/v1/trash/{ids[kind][0]}/restore")).raise_for_status()
    await index.run(alice.workspace_id)
    assert await found(alice.client, "kettle") == ids
    for kind, path in addresses.items():
        await alice.client.delete(path)
        purged = await alice.client.delete(f"/v1/trash/{ids[kind][0]}")
        assert purged.json()["data"]["purged"]["vectors"] == 1
    assert await index.count("index_entries", alice.workspace_id) == 0
    await index.run(alice.workspace_id)
    assert await index.faults(alice.workspace_id) == []
    assert await index.statistics(alice.workspace_id) == await index.recount(alice.workspace_id)


async def test_an_archived_prompt_is_not_found_until_it_is_taken_up_again(alice, make, index):
    prompt = await make.prompt(alice.client, title="Kettles")
    path = f"/v1/prompts/{prompt['id']}"
    for archived, expected in ((True, []), (False, [prompt["id"]])):
        (await alice.client.patch(path, json={"isArchived": archived})).raise_for_status()
        await index.run(alice.workspace_id)
        for semantic in BOTH_MODES:
            assert (await found(alice.client, "kettles", semantic=semantic))["prompts"] == expected


async def test_a_prompt_changed_while_it_is_indexed_is_indexed_again(alice, make, index, database):
    prompt = await make.prompt(alice.client, title="Plan", content="The old plan speaks of badgers.")

    class Meddler:
        name, dim = index.embedder.name, index.embedder.dim
        done = False

        async def embed(self, texts):
            if not self.done:
                self.done = True
                change = {"content": "The new plan speaks of otters."}
                (await alice.client.patch(f"/v1/prompts/{prompt['id']}", json=change)).raise_for_status()
            return await index.embedder.embed(texts)

    await index_items(database, Embedders(Meddler()), alice.workspace_id, 0.0)
    assert (await search(alice.client, "otters"))["meta"]["pending"] == 1
    await index.run(alice.workspace_id)
    assert (await found(alice.client, "otters"))["prompts"] == [prompt["id"]]
    assert await index.items_with(alice.workspace_id, "otter") == {prompt["id"]}
    assert await index.items_with(alice.workspace_id, "badger") == set()


@proves("SEARCH-SCOPES")
async def test_a_key_searches_only_the_types_that_it_may_read(alice, make, index):
    ids = await shelf(alice, make)
    await index.run(alice.workspace_id)
    for scope, kinds in {"prompts.read": ["prompts"], "documents.read": ["documents", "collections"]}.items():
        client = make.client(await make.key(alice, scopes=(scope,)))
        for semantic in BOTH_MODES:
            answer = await search(client, "kettle", semantic=semantic)
            assert answer["meta"]["scope"]["types"] == kinds
            assert answer["meta"]["index"]["total"] == len(kinds)
            expected = {kind: given if kind in kinds else [] for kind, given in ids.items()}
            assert await found(client, "kettle", semantic=semantic) == expected
        result = await LEGACY_ERA.call(client, "search", {"query": "kettle"})
        assert {link["id"].partition("_")[0] + "s" for link in result["structuredContent"]["results"]} == set(kinds)


@proves("SEARCH-SCOPES", "KEY-COLLECTIONS")
async def test_a_restricted_key_finds_only_members_of_its_collections(alice, make, index):
    ids, hidden = await shelf(alice, make), await shelf(alice, make)
    own = ids["collections"][0]
    for kind in ("prompt", "document"):
        body = {"itemIds": ids[f"{kind}s"], "itemType": kind}
        (await alice.client.post(f"/v1/collections/{own}/items", json=body)).raise_for_status()
    await index.run(alice.workspace_id)
    holder = await make.restricted(alice, own)
    for semantic in BOTH_MODES:
        answer = await search(holder.client, "kettle", semantic=semantic)
        assert await found(holder.client, "kettle", semantic=semantic) == ids
        assert answer["meta"]["scope"]["restricted"] is True
        assert answer["meta"]["index"]["total"] == 3
    for kind, given in hidden.items():
        result = await LEGACY_ERA.call(holder.client, "fetch", {"id": f"{kind.removesuffix('s')}_{given[0]}"})
        assert result["structuredContent"]["error"]["reason"] == "NOT_FOUND"


@proves("KEY-COLLECTIONS")
async def test_scores_do_not_tell_a_restricted_key_which_words_others_use(alice, make, index):
    shown = await make.document(alice.client, title="Lantern", content="Trim the lantern. A lantern needs oil.")
    await make.document(alice.client, title="Beds", content="Air the beds.")
    kept = await make.collection(alice.client, name="Mine", items=[shown["id"]])
    holder = (await make.restricted(alice, kept["id"])).client
    hidden = [await make.document(alice.client, title=f"Hidden {number}") for number in range(12)]

    async def scores(word):
        for document in hidden:
            body = {"content": f"{word}, and others."}
            (await alice.client.patch(f"/v1/documents/{document['id']}", json=body)).raise_for_status()
        await index.run(alice.workspace_id)
        query = "Zorblaxine lantern"
        found = (await search(holder, query))["data"]["documents"]
        passages = (await holder.post("/v1/pd/search", json={"query": query})).json()["data"]["results"]
        return [hit["score"] for hit in found + passages]

    without = await scores("Blorptang")
    assert len(without) == 2
    assert await scores("Zorblaxine") == without


@proves("SEARCH-EMPTY")
async def test_nothing_there_and_not_indexed_yet_read_differently(alice, make, index):
    nothing = await LEGACY_ERA.call(alice.client, "find_items", {"query": "kettle"})
    assert text_of(nothing).startswith("Found nothing for “kettle”.")
    assert "there is nothing to find here" in text_of(nothing)
    await shelf(alice, make, tags=["tea"])
    waiting = await LEGACY_ERA.call(alice.client, "find_items", {"query": "kettle", "tags": ["tea"]})
    assert waiting["structuredContent"]["meta"]["index"] == {"total": 3, "pending": 3}
    assert "This does not mean that there is nothing. Not indexed yet: 3 of 3" in text_of(waiting)
    assert "Searched prompts, documents, collections, tagged tea for words and meaning" in text_of(waiting)
    literal = await LEGACY_ERA.call(alice.client, "find_items", {"query": "tram", "semantic": False})
    assert "for the literal text" in text_of(literal)
    assert "there is nothing to find here" not in text_of(literal)
    assert "semantic=true finds its words in any order, and what means the same" in text_of(literal)
    await index.run(alice.workspace_id)
    there = await LEGACY_ERA.call(alice.client, "find_items", {"query": "kettle"})
    assert text_of(there).startswith("Found 1 prompt, 1 document, 1 collection for “kettle”:")
    assert "not indexed" not in text_of(there).lower()


@pytest.mark.parametrize("semantic", [True, False])
@pytest.mark.parametrize(
    ("held", "asked", "lacking"),
    [
        ("documents.read", {"type": "prompts"}, "prompts.read"),
        ("prompts.read", {"type": "documents"}, "documents.read"),
        ("prompts.read", {"type": "collections"}, "documents.read"),
        ("prompts.read", {"asOf": "2024-01-01T00:00:00Z"}, "documents.read"),
    ],
)
@proves("SEARCH-EMPTY", "SEARCH-SCOPES")
async def test_without_the_scope_the_answer_says_which_one_is_lacking(alice, make, semantic, held, asked, lacking):
    await shelf(alice, make)
    client = make.client(await make.key(alice, scopes=(held,)))
    sent = asked | {"semantic": semantic}
    result = await LEGACY_ERA.call(client, "find_items", {"query": "kettle"} | sent)
    notice = (await search(client, "kettle", **sent))["meta"]["notice"]
    assert f"lacks the scope {lacking}; use one that was granted it" in notice
    assert result["structuredContent"]["meta"]["notice"] == notice
    assert text_of(result).split("\n") == ["Found nothing for “kettle”.", notice]


@proves("SEARCH-EMPTY")
async def test_tool_and_route_say_the_same(alice, make, index):
    await shelf(alice, make)
    await index.run(alice.workspace_id)
    for semantic in (True, False):
        over_mcp = await LEGACY_ERA.call(alice.client, "find_items", {"query": "kettle", "semantic": semantic})
        over_rest = await search(alice.client, "kettle", semantic=str(semantic).lower())
        assert over_mcp["structuredContent"] == over_rest
        assert over_rest["meta"]["mode"] == ("hybrid" if semantic else "literal")


@proves("SEARCH-LINKS")
async def test_search_links_to_every_kind_and_fetch_reads_each(alice, make, index):
    ids = await shelf(alice, make)
    body = {"itemIds": ids["documents"], "itemType": "document"}
    (await alice.client.post(f"/v1/collections/{ids['collections'][0]}/items", json=body)).raise_for_status()
    await index.run(alice.workspace_id)
    result = await LEGACY_ERA.call(alice.client, "search", {"query": "kettle"})
    links = {link["id"]: link for link in result["structuredContent"]["results"]}
    assert json.loads(text_of(result)) == result["structuredContent"]
    assert links.keys() == {f"{kind.removesuffix('s')}_{given[0]}" for kind, given in ids.items()}
    texts = {
        "prompts": "# Ask about kettles\n\nFor shops.\n\nWhich kettle boils fastest?",
        "documents": "# Kettle care\n\nDescale the kettle with vinegar.",
        "collections": f"# Kettles\n\nAll that boils water.\n\n- Kettle care (document_{ids['documents'][0]})",
    }
    for kind, text in texts.items():
        prefixed = f"{kind.removesuffix('s')}_{ids[kind][0]}"
        assert links[prefixed]["url"].endswith(f"/dashboard/{kind}/{ids[kind][0]}")
        fetched = (await LEGACY_ERA.call(alice.client, "fetch", {"id": prefixed}))["structuredContent"]
        assert fetched == {
            "id": prefixed,
            "title": links[prefixed]["title"],
            "text": text,
            "url": links[prefixed]["url"],
            "metadata": {"type": kind.removesuffix("s")},
        }


@proves("SEARCH-LINKS")
@pytest.mark.parametrize("prefix", ["prompt", "document", "collection", "page", ""])
async def test_fetch_of_what_is_not_there_or_not_allowed_is_refused(prefix, alice, bob, make):
    ids = await shelf(bob, make)
    foreign = ids.get(f"{prefix}s", ids["documents"])[0]
    for wrong in (f"{prefix}_{foreign}", f"{prefix}_none", prefix):
        result = await LEGACY_ERA.call(alice.client, "fetch", {"id": wrong})
        assert result["structuredContent"]["error"]["reason"] == "NOT_FOUND"
    if prefix in {"prompt", "collection"}:
        other = "documents.read" if prefix == "prompt" else "prompts.read"
        client = make.client(await make.key(bob, scopes=(other,)))
        result = await LEGACY_ERA.call(client, "fetch", {"id": f"{prefix}_{foreign}"})
        assert result["structuredContent"]["error"]["reason"] == "INSUFFICIENT_SCOPE"


@proves("SEARCH-ORDER")
async def test_equal_items_of_each_kind_keep_one_order(alice, make, index):
    for _ in range(3):
        await shelf(alice, make)
    await index.run(alice.workspace_id)
    first = await found(alice.client, "kettle that boils")
    assert all(ids == sorted(ids) and len(ids) == 3 for ids in first.values())
    links = (await LEGACY_ERA.call(alice.client, "search", {"query": "kettle"}))["structuredContent"]["results"]
    assert {link["id"].partition("_")[0] for link in links[:3]} == {"prompt", "document", "collection"}
    for _ in range(2):
        assert await found(alice.client, "kettle that boils") == first
