"""Passages over REST: searching, reading, walking, and ids that outlive edits."""

from __future__ import annotations

import time

import pytest

from tests.contract.requirements import proves

BOOK = """Intro of the book about lighthouses.

# Lamps

The lamp of the lighthouse burns paraffin oil.

It is trimmed by the keeper every evening.

## Lenses

Fresnel lenses gather the light of the lamp.

# Fog

In fog the keeper sounds a horn each minute.
"""


async def ok(answer):
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


async def deep(user, query, **options):
    return await ok(await user.client.post("/v1/pd/search", json={"query": query, **options}))


async def expand(user, chunk_id, direction, **options):
    sent = {"chunkId": chunk_id, "direction": direction, **options}
    return await ok(await user.client.post("/v1/pd/expand", json=sent))


async def read(user, chunk_id, **options):
    return await ok(await user.client.get(f"/v1/pd/read/{chunk_id}", params=options))


def long_paragraphs(count, words=70):
    """Passages of their own, since two of them are over the size that passages are filled to."""
    return "\n\n".join(f"Part {n} says w{n} " + "filler " * words for n in range(count))


@pytest.fixture
def shelf(alice, make, index):
    async def put(content=BOOK, title="Lighthouses", user=alice):
        document = await make.document(user.client, title=title, content=content)
        await index.run(user.workspace_id)
        return document

    return put


@proves("PD-30")
async def test_a_session_is_made(alice):
    for sent in ({"json": {}}, {}):
        data = await ok(await alice.client.post("/v1/pd/session", **sent))
        assert data.keys() == {"sessionId", "createdAt", "expiresAt"}
        assert data["expiresAt"] - data["createdAt"] == 3_600_000
        assert abs(data["createdAt"] - time.time() * 1000) < 60_000


@proves("PD-31")
async def test_a_search_gives_passages_best_first_with_their_places(alice, shelf):
    document = await shelf()
    data = await deep(alice, "What does the keeper do in misty weather?")
    assert data.keys() == {"results", "meta"}
    first = data["results"][0]
    required = {"chunkId", "score", "level", "documentTitle", "documentId", "content", "parentId", "siblingIds"}
    assert first.keys() - {"sectionPath"} == required
    assert first["content"] == "In fog the keeper sounds a horn each minute."
    assert (first["documentId"], first["documentTitle"], first["level"]) == (document["id"], "Lighthouses", "paragraph")
    assert 0.35 <= first["score"] <= 1
    assert first["siblingIds"] == {}
    meta = data["meta"]
    assert meta.keys() == {"query", "totalResults", "latencyMs", "sessionId", "mode", "total", "pending"}
    assert meta["totalResults"] == len(data["results"])
    assert (meta["mode"], meta["total"], meta["pending"]) == ("hybrid", 1, 0)


@proves("PD-31")
async def test_passages_name_their_section_and_an_empty_answer_its_reason(alice, shelf, make):
    assert "no document in this scope" in (await deep(alice, "fog horn"))["meta"]["notice"]
    document = await shelf("# Lamps\n\n## Fog\n\nIn fog the keeper sounds a horn each minute.")
    data = await deep(alice, "fog horn")
    assert data["results"][0]["sectionPath"] == "Lamps > Fog"
    assert "these words or a meaning" in (await deep(alice, "漁船の色"))["meta"]["notice"]
    place = await make.collection(alice.client, items=[])
    assert "no document in this scope" in (await deep(alice, "fog horn", collectionId=place["id"]))["meta"]["notice"]
    body = {"chunkId": data["results"][0]["chunkId"], "direction": "next", "count": 200}
    answer = (await alice.client.post("/v1/pd/expand", json=body)).json()["data"]
    assert "over the cap" in answer["notice"]
    fetched = await alice.client.get("/v1/search", params={"q": "fog horn"})
    assert fetched.json()["data"]["documents"][0]["documentId"] == document["id"]


@proves("PD-31")
async def test_limit_and_what_is_not_indexed_yet(alice, shelf, make):
    await shelf(long_paragraphs(8))
    await make.document(alice.client, content="not yet")
    data = await deep(alice, "says part", limit=3)
    assert len(data["results"]) == 3
    await shelf(long_paragraphs(4, words=71), "More")
    assert len((await deep(alice, "says part"))["results"]) == 10
    assert data["meta"]["pending"] == 1
    capped = await deep(alice, "says part", limit=1000)
    assert "over the cap" in capped["meta"]["notice"]


@proves("PD-31-SCOPE")
async def test_a_document_is_searched_alone_however_much_better_others_are(alice, shelf):
    for number in range(3):
        await shelf("\n\n".join(f"# {n}\n\nThe lighthouse keeper trims the lamp." for n in range(60)), f"Loud {number}")
    quiet = await shelf("Somebody had once been a keeper, long ago and elsewhere.", "Quiet")
    data = await deep(alice, "lighthouse keeper lamp", documentId=quiet["id"])
    assert [hit["documentId"] for hit in data["results"]] == [quiet["id"]]
    answer = await alice.client.post(
        "/v1/pd/search", json={"query": "lamp", "documentId": "00000000-0000-4000-8000-000000000000"}
    )
    assert answer.status_code == 404
    await alice.client.delete(f"/v1/documents/{quiet['id']}")
    answer = await alice.client.post("/v1/pd/search", json={"query": "keeper", "documentId": quiet["id"]})
    assert answer.status_code == 404


@proves("PD-31-SESSION")
async def test_a_session_skips_what_it_returned_until_nothing_is_left(alice, bob, shelf):
    await shelf(long_paragraphs(7))
    session = (await ok(await alice.client.post("/v1/pd/session", json={})))["sessionId"]
    seen = []
    for expected in (3, 3, 1, 0):
        data = await deep(alice, "says part", limit=3, sessionId=session)
        assert len(data["results"]) == expected
        assert data["meta"]["sessionId"] == session
        assert ("has shown all" in data["meta"].get("notice", "")) is (expected == 0)
        seen += [hit["chunkId"] for hit in data["results"]]
    assert len(set(seen)) == 7
    assert len((await deep(alice, "says part", limit=50))["results"]) == 7


@proves("PD-31-SESSION")
async def test_a_search_begins_the_session_that_it_names(alice, shelf):
    await shelf(long_paragraphs(4))
    first = await deep(alice, "says part", limit=2)
    again = await deep(alice, "says part", limit=4, sessionId=first["meta"]["sessionId"])
    ids = [hit["chunkId"] for data in (first, again) for hit in data["results"]]
    assert len(ids) == len(set(ids)) == 4


@proves("PD-31-SESSION")
async def test_an_unknown_session_or_that_of_another_key_changes_nothing(alice, bob, shelf, make):
    await shelf(long_paragraphs(3))
    mine = (await deep(alice, "says part"))["meta"]["sessionId"]
    other = make.client(await make.key(alice))
    for client, session in ((alice.client, "gone"), (other, mine)):
        answer = await client.post("/v1/pd/search", json={"query": "says part", "sessionId": session})
        data = answer.json()["data"]
        assert len(data["results"]) == 3
        assert data["meta"]["sessionId"] not in {session, mine}
        assert "not known" in data["meta"]["notice"]


@proves("PD-31-BUDGET")
async def test_an_answer_ends_at_its_budget_and_the_session_goes_on(alice, shelf):
    await shelf("\n\n".join(f"第{n}章：灯塔的灯。" + "海" * 380 for n in range(20)))
    first = await deep(alice, "灯塔", limit=50)
    assert 1 < len(first["results"]) < 20
    assert sum(len(hit["content"]) for hit in first["results"]) <= 5_000
    assert "search again with the session" in first["meta"]["notice"]
    rest = await deep(alice, "灯塔", limit=50, sessionId=first["meta"]["sessionId"])
    assert {hit["chunkId"] for hit in rest["results"]}.isdisjoint(hit["chunkId"] for hit in first["results"])


@proves("PD-32", "PD-32-WAYS")
async def test_every_direction_from_a_passage(alice, shelf):
    text = "# Only\n\n" + long_paragraphs(9)
    document = await shelf(text)
    hits = {hit["content"].split()[1]: hit for hit in (await deep(alice, "says part", limit=9))["results"]}
    middle = hits["4"]["chunkId"]

    async def numbers(direction, **options):
        chunks = (await expand(alice, middle, direction, **options))["chunks"]
        return [chunk["content"].split()[1] for chunk in chunks]

    assert await numbers("next") == ["5", "6"]
    assert await numbers("previous") == ["2", "3"]
    assert await numbers("surrounding") == ["2", "3", "4", "5", "6"]
    assert await numbers("surrounding", count=1) == ["3", "4", "5"]
    assert await numbers("next", count=50) == ["5", "6", "7", "8"]
    assert await numbers("down") == []
    (section,) = (await expand(alice, middle, "up"))["chunks"]
    assert section["_id"] == section["chunkId"] == hits["4"]["parentId"]
    assert (section["level"], section["chunkIndex"], section["documentId"]) == ("section", 0, document["id"])
    assert section["content"] == text.removeprefix("# Only\n\n").strip()
    (whole,) = (await expand(alice, section["chunkId"], "up"))["chunks"]
    assert (whole["level"], whole["content"]) == ("document", text)
    assert "parentId" not in whole
    assert (await expand(alice, whole["chunkId"], "up"))["chunks"] == []
    parts = (await expand(alice, section["chunkId"], "down"))["chunks"]
    assert [chunk["content"].split()[1] for chunk in parts] == [str(n) for n in range(9)]


@proves("PD-32-WAYS")
async def test_down_gives_passages_then_subsections_in_the_order_of_the_text(alice, shelf):
    document = await shelf()
    whole = (await expand(alice, (await deep(alice, "paraffin"))["results"][0]["parentId"], "up"))["chunks"][0]
    sections = (await expand(alice, whole["chunkId"], "down"))["chunks"]
    assert [chunk["level"] for chunk in sections] == ["section"] * 3
    lamps = sections[1]
    parts = (await expand(alice, lamps["chunkId"], "down"))["chunks"]
    assert [part["level"] for part in parts] == ["paragraph", "section"]
    assert parts[1]["content"] == "Fresnel lenses gather the light of the lamp."
    few = await expand(alice, whole["chunkId"], "down", count=1)
    assert (few["chunks"], few["notice"]) == (
        sections[:1],
        f"There are more: expand chunk {sections[0]['chunkId']} with direction next.",
    )
    assert (await expand(alice, sections[0]["chunkId"], "next"))["chunks"] == sections[1:]
    assert document["id"] == whole["documentId"]


@proves("PD-32-ALONE")
async def test_an_only_child_borrows_from_the_neighbouring_sections(alice, shelf):
    await shelf("\n\n".join(f"# Section {n}\n\nThe number here is nr{n}x." for n in range(7)))
    (alone,) = [hit for hit in (await deep(alice, "nr3x"))["results"] if "nr3x" in hit["content"]]
    assert alone["siblingIds"] == {}
    near = (await expand(alice, alone["chunkId"], "surrounding"))["chunks"]
    assert [chunk["content"] for chunk in near] == [f"The number here is nr{n}x." for n in range(1, 6)]
    assert (await expand(alice, alone["chunkId"], "next"))["chunks"] == []


@proves("PD-32-WAYS")
async def test_a_wrong_direction_names_the_five(alice):
    answer = await alice.client.post("/v1/pd/expand", json={"chunkId": "x", "direction": "sideways"})
    assert answer.status_code == 400
    for way in ("up", "down", "next", "previous", "surrounding"):
        assert f"'{way}'" in answer.json()["error"]["message"]


@pytest.mark.parametrize("chunk_id", ["x", "00000000-0000-8000-8000-000000000000"])
@proves("PD-32", "PD-33")
async def test_an_unknown_chunk_is_404(alice, chunk_id):
    found = await alice.client.get(f"/v1/pd/read/{chunk_id}")
    walked = await alice.client.post("/v1/pd/expand", json={"chunkId": chunk_id, "direction": "up"})
    for answer in (found, walked):
        assert answer.status_code == 404
        assert "deep_search" in answer.json()["error"]["message"]


@proves("PD-33")
async def test_a_read_shows_place_and_size(alice, shelf):
    document = await shelf()
    (hit,) = [hit for hit in (await deep(alice, "Fresnel"))["results"] if "Fresnel" in hit["content"]]
    chunk = await read(alice, hit["chunkId"])
    assert chunk.keys() == {"chunkId", "level", "content", "hierarchy", "metadata"}
    assert chunk["hierarchy"] == {
        "documentTitle": "Lighthouses",
        "documentId": document["id"],
        "sectionPath": "Lamps > Lenses",
        "position": {"chunkIndex": 2, "parentChunkId": hit["parentId"]},
    }
    start, end = chunk["metadata"]["startIndex"], chunk["metadata"]["endIndex"]
    assert BOOK[start:end] == chunk["content"] == "Fresnel lenses gather the light of the lamp."
    assert chunk["metadata"] == {
        "wordCount": 8,
        "startIndex": start,
        "endIndex": end,
        "headingText": "Lenses",
        "revision": 1,
    }


@proves("PD-33-LONG")
async def test_a_document_of_megabytes_is_read_in_parts_and_walked(alice, make):
    text = "\n\n".join(f"# Chapter {n}\n\n" + long_paragraphs(24) for n in range(170))
    assert len(text) > 2_000_000
    document = await make.document(alice.client, title="Long", content=text)
    await make.indexed(alice)
    hit = (await deep(alice, "w7", limit=1, documentId=document["id"]))["results"][0]
    (section,) = (await expand(alice, hit["chunkId"], "up"))["chunks"]
    (whole,) = (await expand(alice, section["chunkId"], "up"))["chunks"]
    assert len((await expand(alice, whole["chunkId"], "down", count=3))["chunks"]) == 3
    assert len(whole["content"]) <= 20_000
    first = await read(alice, whole["chunkId"])
    second = await read(alice, whole["chunkId"], cursor=first["cursor"])
    assert first["content"] + second["content"] == text[: len(first["content"]) + len(second["content"])]
    last = await read(alice, whole["chunkId"], cursor=str(len(text) - 10))
    assert last["content"] == text[-10:]
    assert "cursor" not in last
    bad = await alice.client.get(f"/v1/pd/read/{whole['chunkId']}", params={"cursor": "x"})
    assert bad.status_code == 400


@proves("PD-STABLE")
async def test_a_passage_keeps_its_id_when_text_is_put_before_it(alice, shelf, index):
    document = await shelf()
    (hit,) = [hit for hit in (await deep(alice, "fog horn"))["results"] if "fog" in hit["content"]]
    await alice.client.patch(f"/v1/documents/{document['id']}", json={"content": "# New\n\nFirst of all.\n\n" + BOOK})
    await index.run(alice.workspace_id)
    chunk = await read(alice, hit["chunkId"])
    assert chunk["content"] == hit["content"]
    assert chunk["metadata"]["revision"] == 2
    assert "supersedes" not in chunk


@proves("PD-STALE")
async def test_an_edited_passage_answers_for_its_old_id_and_says_so(alice, bob, shelf, index):
    document = await shelf()
    (hit,) = [hit for hit in (await deep(alice, "fog horn"))["results"] if "fog" in hit["content"]]
    whole = (await expand(alice, hit["parentId"], "up"))["chunks"][0]
    url = f"/v1/documents/{document['id']}"
    await alice.client.patch(url, json={"content": BOOK.replace("each minute", "every other minute")})
    before = await read(alice, hit["chunkId"])
    assert before["content"] == hit["content"]  # until it is indexed, chunks are those of the old revision
    await index.run(alice.workspace_id)
    chunk = await read(alice, hit["chunkId"])
    assert chunk["content"] == "In fog the keeper sounds a horn every other minute."
    assert (chunk["supersedes"], chunk["chunkId"] != hit["chunkId"]) == (hit["chunkId"], True)
    assert "changed after revision 1" in chunk["notice"]
    near = await expand(alice, hit["chunkId"], "up")
    assert near["supersedes"] == hit["chunkId"]
    assert near["chunks"][0]["content"] == chunk["content"]
    assert (await read(alice, whole["chunkId"]))["level"] == "document"
    foreign = await bob.client.get(f"/v1/pd/read/{hit['chunkId']}")
    assert foreign.status_code == 404
    await alice.client.patch(url, json={"title": "Beacons"})
    await index.run(alice.workspace_id)
    assert (await read(alice, hit["chunkId"]))["content"] == chunk["content"]
    await alice.client.patch(url, json={"content": "Nothing of it is left: recipes for soup and bread."})
    await index.run(alice.workspace_id)
    assert (await alice.client.get(f"/v1/pd/read/{hit['chunkId']}")).status_code == 404
    assert await index.count("retired_chunks", alice.workspace_id) > 0
    await alice.client.delete(url)
    assert (await alice.client.get(f"/v1/pd/read/{whole['chunkId']}")).status_code == 404
    await index.run(alice.workspace_id)
    assert await index.count("retired_chunks", alice.workspace_id) == 0


@proves("PD-31-SCOPE")
async def test_a_collection_is_searched_alone_and_bounds_a_restricted_key(alice, bob, shelf, make):
    for number in range(3):
        await shelf("\n\n".join(f"# {n}\n\nThe lighthouse keeper trims the lamp." for n in range(60)), f"Loud {number}")
    quiet = await shelf("Somebody had once been a keeper, long ago and elsewhere.", "Quiet")
    loud = (await deep(alice, "lighthouse keeper lamp", limit=1))["results"][0]["chunkId"]
    made = await make.collection(alice.client, name="Few", items=[quiet["id"]])
    only = await deep(alice, "lighthouse keeper lamp", collectionId=made["id"])
    assert {hit["documentId"] for hit in only["results"]} == {quiet["id"]}
    narrow = await make.restricted(alice, made["id"])
    assert await deep(narrow, "lighthouse keeper lamp") | {"meta": 0} == only | {"meta": 0}
    assert (await narrow.client.get(f"/v1/pd/read/{loud}")).status_code == 404
    walked = await narrow.client.post("/v1/pd/expand", json={"chunkId": loud, "direction": "up"})
    assert walked.status_code == 404
    assert (await read(narrow, only["results"][0]["chunkId"]))["hierarchy"]["documentId"] == quiet["id"]
    foreign = await bob.client.post("/v1/pd/search", json={"query": "keeper", "collectionId": made["id"]})
    assert foreign.status_code == 404
