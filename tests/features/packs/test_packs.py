"""Context packs: what goes in, what is left out, and that a hash gives the same bytes again."""

from __future__ import annotations

import hashlib
import re
from uuid import UUID

import pytest

from app.kit import tokenizer
from app.kit.markdown.chunks import chunk as chunks_of
from tests.contract.requirements import proves

HARBOUR = "# Harbour\n\nAda Lund is the harbour master of Vik.\n\n## Tides\n\nThe tide gauge is read at noon.\n"
MILL = "# Mill\n\nThe mill grinds rye for the harbour on Mondays.\n"
LONG = "\n\n".join(f"The harbour log of day {n} tells of ships, ropes and a good deal of rain." for n in range(80))


async def pack(user, **params):
    answer = await user.client.get("/v1/pack", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


def refusal(answer):
    return answer.status_code, answer.json()["error"]["reason"]


@pytest.fixture
def filled(alice, make, index):
    async def fill(*texts):
        made = [await make.document(alice.client, title=f"Text {n}", content=text) for n, text in enumerate(texts)]
        await index.run(alice.workspace_id)
        return made

    return fill


@proves("PACK", "PACK-SAME")
async def test_a_query_makes_a_text_with_its_revisions_that_its_hash_gives_again(alice, filled):
    harbour, mill = await filled(HARBOUR, MILL)
    made = await pack(alice, query="harbour master", tokens=500)
    assert (made["budget"], made["tokenizer"], made["leftOut"], made["pending"]) == (500, "o200k_base", [], 0)
    assert made["tokens"] == tokenizer.count(made["text"]) <= 500
    assert made["textHash"] == hashlib.sha256(made["text"].encode()).hexdigest()
    assert made["documents"][0]["documentId"] == harbour["id"]
    assert {(item["documentId"], item["revision"]) for item in made["documents"]} <= {
        (harbour["id"], 1),
        (mill["id"], 1),
    }
    assert f"(document {harbour['id']}, revision 1)" in made["text"]
    for item in made["documents"]:
        source = HARBOUR if item["documentId"] == harbour["id"] else MILL
        for span in item["spans"]:
            assert source[span["startIndex"] : span["endIndex"]] in made["text"]
    assert await pack(alice, query="harbour master", tokens=500) == made
    again = await alice.client.get(f"/v1/packs/{made['hash']}")
    assert again.json()["data"] == made


@proves("PACK-SAME")
async def test_a_hash_gives_the_texts_as_they_were_before_an_edit(alice, filled):
    (harbour,) = await filled(HARBOUR)
    made = await pack(alice, documentId=harbour["id"])
    assert HARBOUR.strip() in made["text"]
    await alice.client.patch(f"/v1/documents/{harbour['id']}", json={"content": "All new.", "title": "New"})
    assert (await alice.client.get(f"/v1/packs/{made['hash']}")).json()["data"] == made
    new = await pack(alice, documentId=harbour["id"])
    assert (new["documents"][0]["revision"], new["hash"] == made["hash"]) == (2, False)


@proves("PACK", "PACK-LEFT")
async def test_the_budget_holds_and_what_has_no_room_is_named_with_its_cost(alice, filled):
    long, mill = await filled(LONG, MILL)
    for tokens in (40, 100, 333):
        made = await pack(alice, query="harbour rain ropes", tokens=tokens)
        assert made["tokens"] == tokenizer.count(made["text"]) <= tokens
        left = {item["documentId"]: item for item in made["leftOut"] if item["reason"] == "budget"}
        assert left[long["id"]]["tokens"] > 0
        assert left[long["id"]]["title"] == "Text 0"
    over = await pack(alice, documentId=mill["id"], tokens=99_999)
    assert (over["budget"], over["notice"]) == (32_000, "tokens 99999 is over the cap; 32000 were the budget.")


@proves("PACK", "PACK-SAME", "PACK-BEGIN")
async def test_a_document_that_is_longer_than_the_budget_goes_in_from_its_beginning(alice, make, filled, index):
    text = "# Log\n\n" + "\n\n".join(LONG.split("\n\n") * 25)
    (long,) = await filled(text)
    passages = sum(chunk.level == "paragraph" for chunk in chunks_of(UUID(long["id"]), "Text 0", text))
    for tokens in (200, 1_000):
        made = await pack(alice, documentId=long["id"], tokens=tokens)
        (document,), (left,) = made["documents"], made["leftOut"]
        (span,) = document["spans"]
        assert tokens - 150 < made["tokens"] == tokenizer.count(made["text"]) <= tokens
        assert (span["startIndex"], made["text"].endswith("\n\n" + text[: span["endIndex"]])) == (0, True)
        assert text[span["endIndex"] :].startswith("\n\n")
        assert left["reason"] == "budget"
        said = re.search(r"these are the first (\d+) of (\d+) passages; a query chooses among them", made["notice"])
        assert int(said[1]) + left["passages"] == int(said[2]) == passages
        assert await pack(alice, documentId=long["id"], tokens=tokens) == made
        assert (await alice.client.get(f"/v1/packs/{made['hash']}")).json()["data"] == made
    shelf = await make.collection(alice.client, items=[long["id"]])
    assert (await pack(alice, collectionId=shelf["id"], tokens=1_000))["text"] == made["text"]
    few = await pack(alice, documentId=long["id"], tokens=20)
    needed = int(re.fullmatch(r"Nothing fits: the first of \d+ passages needs (\d+) tokens\.", few["notice"])[1])
    assert (few["text"], few["tokens"], few["leftOut"][0]["passages"]) == ("", 0, int(said[2]))
    assert (await pack(alice, documentId=long["id"], tokens=needed - 1))["text"] == ""
    assert "Log" in (await pack(alice, documentId=long["id"], tokens=needed))["text"]


@proves("PACK-BEGIN")
async def test_the_beginning_is_of_the_text_as_it_is_or_the_pack_says_that_it_waits_for_the_index(alice, filled, index):
    (long,) = await filled(LONG)
    url = f"/v1/documents/{long['id']}"
    await alice.client.patch(url, json={"title": "Renamed"})
    renamed = await pack(alice, documentId=long["id"], tokens=200)
    assert renamed["text"].startswith("# Renamed")
    assert "day 0 tells" in renamed["text"]
    await alice.client.patch(url, json={"content": LONG.replace("rain", "hail")})
    waiting = await pack(alice, documentId=long["id"], tokens=200)
    assert (waiting["text"], waiting["notice"]) == (
        "",
        "The text is longer than the budget, and its passages are not known before it is indexed.",
    )
    await index.run(alice.workspace_id)
    assert "hail" in (await pack(alice, documentId=long["id"], tokens=200))["text"]


@proves("PACK-FIT")
async def test_what_does_not_fit_the_query_is_no_filling(alice, filled):
    await filled(HARBOUR, MILL)
    none = await pack(alice, query="qqqxyz")
    assert (none["text"], none["tokens"], none["documents"], none["leftOut"]) == ("", 0, [], [])
    assert none["notice"] == "Nothing stored fits the query."
    assert (await alice.client.get(f"/v1/packs/{none['hash']}")).json()["data"] == none


@proves("PACK-FIT")
async def test_a_best_passage_without_room_is_told_with_the_tokens_that_it_needs(alice, filled):
    best = "The lighthouse lamp burns whale oil, and its keeper trims the wick at dusk. " * 4
    await filled(best, "A lamp.")
    small = await pack(alice, query="lighthouse lamp oil wick keeper", tokens=60)
    assert "A lamp." in small["text"]
    said = re.fullmatch(
        r"The best passage does not fit: it needs (\d+) tokens; the text is of lesser ones\.", small["notice"]
    )
    enough = await pack(alice, query="lighthouse lamp oil wick keeper", tokens=int(said[1]))
    assert "whale" in enough["text"]
    assert "notice" not in enough
    less = await pack(alice, query="lighthouse lamp oil wick keeper", tokens=5)
    assert (less["text"], less["notice"]) == (
        "",
        f"The best passage does not fit: it needs {said[1]} tokens; nor do others.",
    )


@proves("PACK-LEFT")
async def test_a_collection_goes_in_whole_and_a_copy_only_once(alice, make, filled):
    texts = await filled(HARBOUR, LONG, MILL, MILL)
    made = await make.collection(alice.client, items=[text["id"] for text in texts])
    found = await pack(alice, collectionId=made["id"], tokens=300)
    assert {item["documentId"] for item in found["documents"]} < {text["id"] for text in texts}
    reasons = {item["documentId"]: item["reason"] for item in found["leftOut"]}
    assert reasons[texts[1]["id"]] == "budget"
    assert sorted(reasons.values()) == ["budget", "duplicate"]
    assert MILL.strip() in found["text"]
    assert HARBOUR.strip() in found["text"]


@proves("PACK-REACH")
async def test_a_pack_is_gone_with_its_document_and_for_who_may_not_see_it(alice, bob, filled, sql):
    harbour, mill = await filled(HARBOUR, MILL)
    made = await pack(alice, query="harbour", tokens=500)
    other = await pack(alice, documentId=mill["id"])
    assert refusal(await bob.client.get(f"/v1/packs/{made['hash']}")) == (404, "NOT_FOUND")
    await alice.client.delete(f"/v1/documents/{harbour['id']}")
    assert refusal(await alice.client.get(f"/v1/packs/{made['hash']}")) == (404, "NOT_FOUND")
    await alice.client.post(f"/v1/trash/{harbour['id']}/restore")
    assert (await alice.client.get(f"/v1/packs/{made['hash']}")).status_code == 200
    await alice.client.delete(f"/v1/documents/{harbour['id']}")
    purged = (await alice.client.delete(f"/v1/trash/{harbour['id']}")).json()["data"]["purged"]
    assert purged["packs"] == 1
    assert refusal(await alice.client.get(f"/v1/packs/{made['hash']}")) == (404, "NOT_FOUND")
    assert (await alice.client.get(f"/v1/packs/{other['hash']}")).status_code == 200
    assert await sql.fetchval("SELECT count(*) FROM packs WHERE workspace_id = $1", alice.workspace_id) == 1


@proves("PACK")
async def test_what_names_nothing_or_what_is_absent_is_refused(alice, make):
    assert refusal(await alice.client.get("/v1/pack")) == (400, "INVALID_REQUEST")
    nobody = "01900000-0000-7000-8000-000000000000"
    assert refusal(await alice.client.get("/v1/pack", params={"documentId": nobody})) == (404, "NOT_FOUND")
    assert refusal(await alice.client.get("/v1/pack", params={"collectionId": nobody})) == (404, "NOT_FOUND")
    unknown = await alice.client.get("/v1/packs/" + "0" * 64)
    assert refusal(unknown) == (404, "NOT_FOUND")
    for none in ("zzz", "0" * 63, "0" * 65, "A" * 64, "é"):
        found = await alice.client.get(f"/v1/packs/{none}")
        assert refusal(found) == (404, "NOT_FOUND"), none
        assert found.json()["error"]["message"] == unknown.json()["error"]["message"]
