"""Literal search: the text as it stands, in titles and whole bodies, before anything is indexed."""

from __future__ import annotations

import asyncio
from decimal import Decimal

import pytest


async def literal(user, q, **options):
    answer = await user.client.get("/v1/search", params={"q": q, "semantic": "false", **options})
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]["documents"]


async def test_a_token_at_the_end_of_a_large_document_is_found_at_once(alice, make):
    text = "All work and no play. " * 47_000 + "Needle-4711"
    document = await make.document(alice.client, title="Novel", content=text)
    (hit,) = await literal(alice, "needle-4711")
    assert hit["documentId"] == document["id"]
    assert hit["status"] in {"pending", "processing"}
    assert hit["highlight"].endswith("Needle-4711")
    assert "score" not in hit
    assert "chunkId" not in hit


@pytest.mark.parametrize(
    ("q", "text", "missed"),
    [
        ("MiXeD", "it is mixed here", "mix ed"),
        ("ÜBER", "darüber hinaus", "daruber"),
        ("50%", "down 50% today", "down 500 today"),
        ("a_b", "value a_b here", "value axb here"),
        ("c:\\temp", r"in C:\Temp it is", "in C:/Temp it is"),
        ("\\", r"one \ slash", "none"),
        ("a.c*[x]", "the a.c*[x] pattern", "the abc pattern"),
        ("(", "an (open one", "none"),
        ("^$", "the ^$ signs", "none"),
        ("🙂👍", "well 🙂👍 done", "well 🙂 👍 done"),
        ("e\u0301", "cafe\u0301", "cafe"),
        ("漢字", "これは漢字です", "これは感じです"),
        ("o'clock; --", "at five o'clock; -- so", "at five oclock"),
        ("two\nlines", "in two\nlines", "in two lines"),
        ("\u0130", "in \u0130zmir", "in izmir"),
        ("\u0130", "in i\u0307zmir", "in Izmir"),
        ("i\u0307zmir", "in \u0130zmir", "in izmir"),
        ("I\u0307ZM\u0130R", "in \u0130zmir and izmir, \u0130zm\u0130r", "in \u0130zmir"),
        ("izmir", "in \u0130zmir", "in \u0131zmir"),
        ("ΟΔΟΣ ΣΑΣ", "η οδος σας", "η οδοτ σας"),
        ("οδος", "ΟΔΟΣ", "ΟΔΟ"),
    ],
)
async def test_every_character_stands_for_itself(q, text, missed, alice, make, index):
    wanted = await make.document(alice.client, title="Wanted", content=text)
    await make.document(alice.client, title="Missed", content=missed)
    assert [hit["documentId"] for hit in await literal(alice, q)] == [wanted["id"]]
    await index.run(alice.workspace_id)
    (hit,) = await literal(alice, q)
    assert hit["chunkId"] in map(str, await index.chunks(wanted["id"]))
    assert text in hit["highlight"]


async def test_titles_come_first_then_the_newest(alice, make):
    await make.document(alice.client, title="Old", content="about Gherkin")
    await make.document(alice.client, title="New", content="about gherkin")
    await make.document(alice.client, title="GHERKIN", content="nothing")
    assert [hit["title"] for hit in await literal(alice, "gherkin")] == ["GHERKIN", "New", "Old"]


async def test_a_hit_in_the_title_alone_shows_the_beginning(alice, make):
    await make.document(alice.client, title="Gherkin", content="Once upon a time. " * 30)
    (hit,) = await literal(alice, "gherkin")
    assert hit["highlight"].startswith("Once upon a time.")


async def test_the_chunk_named_is_the_one_that_holds_the_hit(alice, make, index):
    text = "\n\n".join(f"# Part {n}\n\nThe number of this part is nr{n}x." for n in range(20))
    document = await make.document(alice.client, title="Parts", content=text)
    await index.run(alice.workspace_id)
    (hit,) = await literal(alice, "nr13x")
    chunks = {str(id_): content for id_, content in (await index.chunks(document["id"])).items()}
    assert chunks[hit["chunkId"]] == "The number of this part is nr13x."


async def test_the_section_of_the_chunk_that_is_named_is_told_until_the_text_is_another(alice, make, index):
    text = "# Ships\n\n## Sloops\n\nThe sloop has one mast.\n\n## Brigs\n\nThe brig has two."
    document = await make.document(alice.client, title="Ships", content=text)
    assert "sectionPath" not in (await literal(alice, "two."))[0]
    await index.run(alice.workspace_id)
    sections = {q: hit["sectionPath"] for q in ("one mast", "two.") for hit in await literal(alice, q)}
    assert sections == {"one mast": "Ships > Sloops", "two.": "Ships > Brigs"}
    moved = "# Boats\n\nThe brig has two.\n\n" + text
    await alice.client.patch(f"/v1/documents/{document['id']}", json={"content": moved})
    (hit,) = await literal(alice, "two.")  # at a place where another passage stood
    assert ("sectionPath" in hit, "chunkId" in hit) == (False, False)
    await index.run(alice.workspace_id)
    assert [hit["sectionPath"] for hit in await literal(alice, "two.")] == ["Boats"]


@pytest.mark.parametrize("q", ["\u0130", "i\u0307", "\u0307", "\u0130\u0307"])
@pytest.mark.parametrize("before", ["", "a", "ab\u0307c"])
async def test_the_place_of_a_dotted_letter_is_that_in_the_text(q, before, sql):
    for text in (before + 3 * "\u0130" + "\u0307", before + "i\u0307" + "\u0130\u0307"):
        spelt = [letter.lower() for letter in text]
        wanted = "".join(spelt).find(q.lower())
        place = next(n for n in range(len(text)) if wanted < len("".join(spelt[: n + 1]))) + 1
        assert await sql.fetchval("SELECT literal_place($1, $2)", q, text) == place, text


async def test_edits_are_found_at_once_and_what_was_there_is_not(alice, make, index):
    document = await make.document(alice.client, content="first wording")
    await index.run(alice.workspace_id)
    await alice.client.patch(f"/v1/documents/{document['id']}", json={"content": "second wording"})
    assert await literal(alice, "first") == []
    assert len(await literal(alice, "second")) == 1


async def test_a_null_character_is_refused(alice):
    answer = await alice.client.get("/v1/search?q=a%00b&semantic=false")
    assert answer.status_code == 400
    answer = await alice.client.get("/v1/search?q=a%00b")
    assert answer.status_code == 400


@pytest.mark.parametrize(
    "text", ["a.c*[x] \\ (^$ ***=(?i) 漢字 🙂 o'clock\n two lines, and so on to sixty-five and beyond", "É" * 99]
)
async def test_every_character_stands_for_itself_in_a_long_text_too(text, alice, make):
    wanted = await make.document(alice.client, title="Wanted", content=f"before {text} after")
    await make.document(alice.client, title="Missed", content=text[:-1])
    (hit,) = await literal(alice, text.swapcase())
    assert hit["documentId"] == wanted["id"]


async def test_a_text_made_to_be_compared_at_every_place_costs_no_more_than_another(alice, make):
    await make.document(alice.client, title="All the same", content="a" * 4_000_000)
    async with asyncio.timeout(3):  # place by place: 8,000,000,000 comparisons
        assert await literal(alice, "b" + "a" * 1_990) == []


@pytest.mark.parametrize("unit", ["a", "ab"])
async def test_a_long_needle_costs_no_more_than_a_short_one_in_a_repeating_text(alice, make, sql, unit):
    text, long = unit * (200_000 // len(unit)), unit * (1_900 // len(unit))
    await make.document(alice.client, content=text)
    (hit,) = await literal(alice, long)
    assert hit["highlight"].startswith(unit)
    assert await literal(alice, unit * (1_800 // len(unit)) + "c") == []
    # Asking for every place, instead of for a match, made it well over a thousand times. (`random`: it is not folded.)
    timed = (
        "SELECT literal_place($1, $2 || left(random()::text, 0)), "
        "extract(epoch FROM clock_timestamp() - statement_timestamp())"
    )
    short_place, short = await sql.fetchrow(timed, unit * 10, text)
    long_place, took = await sql.fetchrow(timed, long, text)
    assert (short_place, long_place) == (1, 1)
    assert took < 200 * max(short, Decimal("0.001"))
