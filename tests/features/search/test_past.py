"""Search as of a time: documents as they were, by the words of then or literally."""

from __future__ import annotations

from uuid import UUID

import pytest

from app.features.search.past import service as past
from tests.contract.requirements import proves
from tests.edge.mcp.wire import LEGACY_ERA, text_of


async def search(client, q, **options):
    answer = await client.get("/v1/search", params={"q": q, **options})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def found(client, q, at, **options):
    return (await search(client, q, asOf=at, **options))["data"]["documents"]


async def titles(client, q, at, **options):
    return [hit["title"] for hit in await found(client, q, at, **options)]


async def change(client, document, **fields):
    (await client.patch(f"/v1/documents/{document['id']}", json=fields)).raise_for_status()


@pytest.fixture
def now(sql):
    """The database's time, by which revisions are dated."""

    async def read():
        return (await sql.fetchval("SELECT clock_timestamp()")).isoformat()

    return read


BOTH = pytest.mark.parametrize("semantic", ["true", "false"])


@proves("SEARCH-AS-OF")
@BOTH
async def test_a_word_that_was_edited_away_is_found_as_of_then_and_not_now(semantic, alice, make, index, now):
    text = "# Menu\n\nTea.\n\n# Rules\n\nNo walruses in the tea room."
    document = await make.document(alice.client, title="House", content=text)
    await index.run(alice.workspace_id)
    then = await now()
    await change(alice.client, document, title="Home", content="No seals in the tea room.")
    await index.run(alice.workspace_id)
    (hit,) = await found(alice.client, "walruses", then, semantic=semantic)
    assert (hit["documentId"], hit["title"], hit["revision"]) == (document["id"], "House", 1)
    assert "No walruses in the tea room." in hit["highlight"]
    assert (hit.get("sectionPath"), "chunkId" in hit) == ("Rules" if semantic == "true" else None, False)
    path = f"/v1/documents/{document['id']}"
    assert (await alice.client.get(path, params={"asOf": hit["revision"]})).json()["data"]["content"] == text
    assert await found(alice.client, "seals", then, semantic=semantic) == []
    assert await found(alice.client, "walruses", await now(), semantic=semantic) == []
    (hit,) = await found(alice.client, "seals", await now(), semantic=semantic)
    assert (hit["title"], hit["revision"]) == ("Home", 2)
    assert "revision" not in (await search(alice.client, "seals"))["data"]["documents"][0]


@proves("SEARCH-AS-OF")
@BOTH
async def test_what_is_newer_or_in_the_trash_is_not_found(semantic, alice, make, index, now):
    gone, _ = [await make.document(alice.client, title=title, content="A kettle.") for title in ("Gone", "Kept")]
    then = await now()
    await make.document(alice.client, title="New", content="A kettle.")
    await index.run(alice.workspace_id)
    (await alice.client.delete(f"/v1/documents/{gone['id']}")).raise_for_status()
    await index.run(alice.workspace_id)
    assert await titles(alice.client, "kettle", then, semantic=semantic) == ["Kept"]
    answer = await search(alice.client, "kettle", asOf=then, semantic=semantic)
    assert answer["meta"]["index"] == {"total": 1, "pending": 0}
    (await alice.client.post(f"/v1/trash/{gone['id']}/restore")).raise_for_status()
    assert sorted(await titles(alice.client, "kettle", then, semantic=semantic)) == ["Gone", "Kept"]


@proves("SEARCH-AS-OF")
@BOTH
async def test_tags_are_those_of_then(semantic, alice, make, index, now):
    moved = await make.document(alice.client, title="Moved", content="A kettle.", tags=["tea", "old"])
    await make.document(alice.client, title="Never", content="A kettle.", tags=["tea"])
    then = await now()
    await change(alice.client, moved, tags=["tea", "new"])
    await index.run(alice.workspace_id)
    assert await titles(alice.client, "kettle", then, semantic=semantic, tags="tea,old") == ["Moved"]
    assert await titles(alice.client, "kettle", then, semantic=semantic, tags="new") == []
    assert await titles(alice.client, "kettle", await now(), semantic=semantic, tags="new") == ["Moved"]
    assert await titles(alice.client, "kettle", await now(), semantic=semantic, tags="old") == []


@proves("SEARCH-AS-OF")
async def test_as_of_now_ranks_as_words_alone_do_now(alice, make, index, now, monkeypatch):
    monkeypatch.setattr("app.features.search.service.unlearned", lambda _: {"english", "german"})
    chat = "**Ann** (3 May 2024): Bob, did it leave? Bob! Bob!\n\n**Bob** (3 May 2024): The island ferry left at seven."
    texts = {
        "Ferry": "# Times\n\nThe ferry to the island leaves at seven.\n\n# Rules\n\nNo smoking on the island.",
        "Island": "An island of sheep. " * 40 + "\n\nThe ferry is late.\n\n" + "Rain on the island. " * 60,
        "Chat": chat,
        "Fähre": "Die Fähre zur Insel ist nicht da, und der Kapitän ist auch nicht hier. Ferry island.",
        "Other": "Nothing of the kind.",
    }
    for title, content in texts.items():
        await make.document(alice.client, title=title, content=content)
    await index.run(alice.workspace_id)
    for q in ("island ferry", "when does the ferry to the island leave", "Insel", "Bob"):
        hits = (await search(alice.client, q, type="documents"))["data"]["documents"]
        then = await found(alice.client, q, await now())
        assert [hit.pop("revision") for hit in then] == [1] * len(hits)
        assert then == [{name: value for name, value in hit.items() if name != "chunkId"} for hit in hits]
        assert hits


@proves("SEARCH-AS-OF")
async def test_the_answer_says_what_was_compared(alice, make, index, now, monkeypatch):
    made = [await make.document(alice.client, title=f"T{n}", content=f"A kettle, number {n}.") for n in range(4)]
    await make.document(alice.client, title="Aside", content="A lamp.")
    await index.run(alice.workspace_id)
    then = await now()
    meta = (await search(alice.client, "kettle", asOf=then))["meta"]
    assert (meta["mode"], meta["asOf"], meta["scope"]["types"]) == ("lexical", then, ["documents"])
    assert meta["notice"] == (
        "Words alone decided, in the texts of then: 4 of 5 documents were compared, all that may have the words."
    )
    for document in made:
        await change(alice.client, document, content="Gone.")
    await index.run(alice.workspace_id)
    assert len(await found(alice.client, "kettle", then)) == 4
    monkeypatch.setattr(past, "COMPARED", 3)
    answer = await search(alice.client, "kettle", asOf=then)
    assert sorted(hit["title"] for hit in answer["data"]["documents"]) == ["T1", "T2", "T3"]  # the latest by then
    assert answer["meta"]["notice"] == (
        "Words alone decided, in the texts of then: 3 of 5 documents were compared, the others were not;"
        " semantic=false looks for the literal text in all of them."
    )
    answer = await search(alice.client, "kettle", asOf=then, semantic="false")
    assert len(answer["data"]["documents"]) == 4
    assert (answer["meta"]["mode"], "notice" in answer["meta"]) == ("literal", False)


@proves("SEARCH-AS-OF")
async def test_of_many_documents_at_most_two_hundred_are_compared(alice, make, now, sql):
    many = past.COMPARED + 5
    for number in range(many):
        await make.document(alice.client, title=f"T{number}", content="A kettle.")
    await make.indexed(alice)
    answer = await search(alice.client, "kettle", asOf=await now(), limit=100)
    assert len(answer["data"]["documents"]) == 100  # as of now the index leads to the best of them alone
    assert f"100 of {many} documents were compared, the others were not" in answer["meta"]["notice"]
    await sql.execute("UPDATE documents SET chunked_revision = 0 WHERE workspace_id = $1", alice.workspace_id)
    answer = await search(alice.client, "kettle", asOf=await now(), limit=100)
    assert f"{past.COMPARED} of {many} documents were compared, the others were not" in answer["meta"]["notice"]


@proves("SEARCH-AS-OF")
async def test_newer_documents_take_no_place_of_what_was_there(alice, make, now):
    await make.document(alice.client, title="Old", content="Of lamps, oil, rooms and beds, and by the way a kettle.")
    then = await now()
    for number in range(110):
        await make.document(alice.client, title=f"Kettle {number}", content="Kettle.")
    await make.indexed(alice)
    assert await titles(alice.client, "kettle", then) == ["Old"]


@proves("SEARCH-AS-OF")
async def test_a_text_that_does_not_fit_is_left_out_and_said(alice, make, index, now, monkeypatch):
    await make.document(alice.client, title="Long", content="A kettle. " * 50)
    await make.document(alice.client, title="Short", content="A kettle.")
    await index.run(alice.workspace_id)
    monkeypatch.setattr(past, "BYTES", 100)
    answer = await search(alice.client, "kettle", asOf=await now())
    assert [hit["title"] for hit in answer["data"]["documents"]] == ["Short"]
    assert "1 of 2 documents were compared, the others were not" in answer["meta"]["notice"]


@proves("SEARCH-AS-OF")
async def test_a_conversation_of_many_turns_is_found_in_few_pieces(alice, make, index, now, monkeypatch):
    turns = "\n\n".join(f"**S{n % 5}** (2024-01-16): said thing number {n} about zebras" for n in range(1_000))
    await make.document(alice.client, title="Long", content=turns)
    await make.document(alice.client, title="Short", content="A zebra.")
    await index.run(alice.workspace_id)
    monkeypatch.setattr(past, "PASSAGES", 50)
    pieces, rank = [], past.queries.rank_texts
    monkeypatch.setattr(past.queries, "rank_texts", lambda tx, text, sent: pieces.extend(sent) or rank(tx, text, sent))
    hits = await found(alice.client, "zebra", await now())
    assert {hit["title"] for hit in hits} == {"Long", "Short"}
    assert len(pieces) < 300


@proves("SEARCH-AS-OF")
async def test_texts_that_are_not_indexed_yet_are_found_once_a_word_of_the_query_is_known(alice, make, index, now):
    await make.document(alice.client, title="Kettle", content="A kettle.")
    answer = await search(alice.client, "kettle", asOf=await now())
    assert "0 of 1 documents were compared, the others were not" in answer["meta"]["notice"]
    result = await LEGACY_ERA.call(alice.client, "find_items", {"query": "kettle", "asOf": await now()})
    assert "there is nothing to find here" not in text_of(result)
    await index.run(alice.workspace_id)
    await make.document(alice.client, title="Newer", content="A kettle.")
    assert sorted(await titles(alice.client, "kettle", await now())) == ["Kettle", "Newer"]


@proves("SEARCH-AS-OF")
async def test_a_language_that_the_index_no_longer_has_is_searched_too(alice, make, index, now):
    german = "Die Fähre ist nicht da, und der Kapitän ist auch nicht hier. Das Walross wird mit Fisch gefüttert."
    document = await make.document(alice.client, title="Fähre", content=german)
    chat = "**Ann** (3 May 2024): Did the narwhal sing?\n\n**Bob** (3 May 2024): It did, all the night."
    spoken = await make.document(alice.client, title="Chat", content=chat)
    then = await now()
    for made in (document, spoken):
        await change(alice.client, made, title="Ship", content="The ship is gone, and that is all of it.")
    await index.run(alice.workspace_id)
    (hit,) = await found(alice.client, "Walross", then)
    assert (hit["title"], "Das Walross wird" in hit["highlight"]) == ("Fähre", True)
    (hit,) = await found(alice.client, "narwhal", then)
    assert (hit["title"], "narwhal sing" in hit["highlight"]) == ("Chat", True)


@proves("SEARCH-AS-OF")
async def test_a_text_that_cannot_be_cut_spoils_no_other(alice, make, index, now, monkeypatch):
    bad = await make.document(alice.client, title="Bad", content="A kettle.")
    await make.document(alice.client, title="Good", content="A kettle.")
    await index.run(alice.workspace_id)
    plain = past.chunk

    def chunk(document_id, *text):
        if str(document_id) == bad["id"]:
            raise RecursionError
        return plain(document_id, *text)

    monkeypatch.setattr(past, "chunk", chunk)
    answer = await search(alice.client, "kettle", asOf=await now())
    assert [hit["title"] for hit in answer["data"]["documents"]] == ["Good"]
    assert "1 of 2 documents were compared, the others were not" in answer["meta"]["notice"]


@proves("SEARCH-AS-OF")
@BOTH
async def test_a_revision_whose_text_was_not_kept_is_left_out(semantic, alice, make, index, now, sql):
    document = await make.document(alice.client, title="Kettle", content="A kettle.")
    then = await now()
    await change(alice.client, document, title="Lamp", content="A lamp.")
    await index.run(alice.workspace_id)
    assert await titles(alice.client, "kettle", then, semantic=semantic) == ["Kettle"]
    for field in ("title", "tags", "content_digest"):
        async with sql.acquire() as connection, connection.transaction():
            await connection.execute(
                f"UPDATE document_revisions SET {field} = NULL WHERE document_id = $1 AND revision = 1", document["id"]
            )
        answer = await search(alice.client, "kettle", asOf=then, semantic=semantic)
        assert (answer["data"]["documents"], answer["meta"]["index"]["total"]) == ([], 0)


@proves("SEARCH-AS-OF", "KEY-COLLECTIONS", "SEARCH-SCOPES")
@BOTH
async def test_a_restricted_key_and_another_tenant_see_no_more_of_then_than_of_now(
    semantic, alice, bob, make, index, now
):
    own, hidden = [await make.document(alice.client, title=title, content="A kettle.") for title in ("Own", "Hidden")]
    collection = await make.collection(alice.client, items=[own["id"]])
    await index.run(alice.workspace_id)
    then = await now()
    for document in (own, hidden):
        await change(alice.client, document, content="A lamp.")
    await make.document(bob.client, title="Lamp", content="A lamp.")
    for user in (alice, bob):
        await index.run(user.workspace_id)
    holder = await make.restricted(alice, collection["id"])
    answer = await search(holder.client, "kettle", asOf=then, semantic=semantic)
    assert [hit["title"] for hit in answer["data"]["documents"]] == ["Own"]
    assert (answer["meta"]["scope"]["restricted"], answer["meta"]["index"]["total"]) == (True, 1)
    assert sorted(await titles(alice.client, "kettle", then, semantic=semantic)) == ["Hidden", "Own"]
    assert await titles(bob.client, "kettle", then, semantic=semantic) == []
    prompts = make.client(await make.key(alice, scopes=("prompts.read",)))
    answer = await search(prompts, "kettle", asOf=then, semantic=semantic)
    assert (answer["data"]["documents"], answer["meta"]["scope"]["types"]) == ([], [])


@proves("SEARCH-AS-OF")
async def test_documents_with_one_text_are_found_once(alice, make, index, now):
    text = "The ferry to the island leaves at seven from the old pier, and comes back when the tide allows it. " * 3
    made = [await make.document(alice.client, title="Ferry", content=text) for _ in range(2)]
    then = await now()
    await change(alice.client, made[0], content="Gone.")
    await index.run(alice.workspace_id)
    (hit,) = await found(alice.client, "ferry", then)
    assert {hit["documentId"], hit["copies"][0]["documentId"]} == {document["id"] for document in made}
    assert len(await found(alice.client, "ferry", then, semantic="false")) == 2


@proves("SEARCH-AS-OF")
async def test_titles_come_first_in_a_literal_search_then_the_newest(alice, make, now):
    made = [
        await make.document(alice.client, title=title, content=content)
        for title, content in (("Old", "a 50%_off Gherkin"), ("New", "a 50%_OFF gherkin"), ("50%_off", "nothing"))
    ]
    then = await now()
    for document in made:
        await change(alice.client, document, title="x", content="x")
    assert await titles(alice.client, "50%_Off", then, semantic="false") == ["50%_off", "New", "Old"]
    assert await titles(alice.client, "50%_Off", then, semantic="false", limit=1) == ["50%_off"]
    assert await titles(alice.client, "50__off", then, semantic="false") == []


@proves("SEARCH-AS-OF")
@BOTH
@pytest.mark.parametrize(
    ("when", "there"),
    [
        ("1900-01-01T00:00:00Z", False),
        ("2001-01-01T00:00:00+14:00", False),
        ("978307200000", False),
        ("9998-12-31T23:59:59Z", True),
        ("2999-01-01T00:00:00Z", True),
    ],
)
async def test_before_everything_there_was_nothing_and_the_future_is_now(semantic, when, there, alice, make, index):
    await make.document(alice.client, title="Kettle", content="A kettle.")
    await index.run(alice.workspace_id)
    answer = await search(alice.client, "kettle", asOf=when, semantic=semantic)
    assert [hit["title"] for hit in answer["data"]["documents"]] == ["Kettle"] * there
    assert answer["meta"]["index"]["total"] == there


@proves("SEARCH-AS-OF")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"asOf": "1"}, "a revision number counts for one item alone"),
        ({"asOf": "99999999999"}, "a revision number counts for one item alone"),
        ({"asOf": "yesterday"}, "must be a time with its zone, such as 2026-05-01T00:00:00Z"),
        ({"asOf": "2026-05-01"}, "must be a time with its zone, such as 2026-05-01T00:00:00Z"),
        ({"asOf": "2026-05-01T12:00:00"}, "must be a time with its zone"),
        ({"asOf": "0"}, "must be a time with its zone"),
        ({"asOf": "0001-01-01T00:00:00Z"}, "a time of the years 1900 to 9998"),
        ({"asOf": "9999-12-31T23:59:59-23:59"}, "a time of the years 1900 to 9998"),
        ({"asOf": "2026-05-01T12:00:00Z", "type": "prompts"}, "only documents are searched as they were"),
        ({"asOf": "2026-05-01T12:00:00Z", "type": "collections"}, "only documents are searched as they were"),
    ],
)
async def test_what_a_search_cannot_go_back_to_is_refused(options, said, alice):
    answer = await alice.client.get("/v1/search", params={"q": "kettle"} | options)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert "asOf" in error["message"]
    assert said in error["message"]
    assert "must be a revision" not in error["message"]


@proves("SEARCH-AS-OF")
async def test_tool_and_route_say_the_same_of_then(alice, make, index, now):
    document = await make.document(alice.client, title="House", content="No walruses.", tags=["tea"])
    then = await now()
    await change(alice.client, document, content="No seals.")
    await index.run(alice.workspace_id)
    for semantic in (True, False):
        sent = {"query": "walruses", "semantic": semantic, "asOf": then, "tags": ["tea"], "type": "documents"}
        result = await LEGACY_ERA.call(alice.client, "find_items", sent)
        over_rest = await search(
            alice.client, "walruses", semantic=str(semantic).lower(), asOf=then, tags="tea", type="documents"
        )
        assert result["structuredContent"] == over_rest
        assert f"Searched documents as of {then}, tagged tea for" in text_of(result)
        assert "Revision: 1" in text_of(result)
    nothing = await LEGACY_ERA.call(alice.client, "find_items", sent | {"query": "seals"})
    assert text_of(nothing).endswith("It is not there as it was sent; semantic=true finds its words in any order.")


@proves("SEARCH-AS-OF")
@BOTH
async def test_what_an_import_kept_in_part_is_counted_in_the_notice(semantic, alice, make, index, now, sql):
    whole = await make.document(alice.client, title="House", content="No walruses here.", tags=["tea"])
    partial = await make.document(alice.client, title="Hut", content="No walruses there.", tags=["tea"])
    then = await now()
    for document in (whole, partial):
        await change(alice.client, document, content="No seals.")
    await index.run(alice.workspace_id)
    lose = "UPDATE document_revisions SET title = NULL, tags = NULL WHERE document_id = $1 AND revision = 1"
    await sql.execute(lose, UUID(partial["id"]))
    answer = await search(alice.client, "walruses", asOf=then, semantic=semantic, tags="tea")
    assert [hit["title"] for hit in answer["data"]["documents"]] == ["House"]
    assert "1 more document was not looked at" in answer["meta"]["notice"]
    sent = {"query": "penguins", "semantic": semantic == "true", "asOf": then}
    assert "All of it was searched" not in text_of(await LEGACY_ERA.call(alice.client, "find_items", sent))
    later = await search(alice.client, "seals", asOf=await now(), semantic=semantic)
    assert "not looked at" not in later["meta"].get("notice", "")
