"""Context packs: what goes in, what is left out, and that a hash gives the same bytes again."""

from __future__ import annotations

import hashlib

import pytest

from app.kit import tokenizer
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
    whole = await pack(alice, documentId=long["id"], tokens=50)
    assert (whole["text"], whole["tokens"], whole["documents"]) == ("", 0, [])
    assert whole["leftOut"][0]["reason"] == "budget"
    over = await pack(alice, documentId=mill["id"], tokens=99_999)
    assert (over["budget"], over["notice"]) == (32_000, "tokens 99999 is over the cap; 32000 were the budget.")


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
