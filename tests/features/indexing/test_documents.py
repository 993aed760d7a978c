"""What becomes of a document in the index: created, edited, renamed, deleted, edited meanwhile, claimed twice."""

from __future__ import annotations

import asyncio
import random
from uuid import UUID

import pytest

from app.features.indexing import service
from app.features.indexing.claims import queries as claims

FIRST = "# Machines\n\nThe coffee machine on the third floor is cleaned every Friday by the night shift."
SECOND = "## Parking\n\nVisitors leave their cars behind the old mill, where a warden hands out tickets."
THIRD = "## Alarms\n\nWhen the siren sounds three times, everybody walks to the meadow by the river."


async def patch(user, document, **change):
    answer = await user.client.patch(f"/v1/documents/{document['id']}", json=change)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


async def found(user, q, **options):
    answer = await user.client.get("/v1/search", params={"q": q, **options})
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]["documents"]


async def test_a_document_becomes_ready_and_is_found_by_a_paraphrase(alice, make, index):
    wanted = await make.document(alice.client, title="House rules", content=f"{FIRST}\n\n{SECOND}\n\n{THIRD}\n")
    await make.document(alice.client, title="Accounts", content="Invoices are paid within thirty days.")
    assert (await index.status(wanted["id"]))[0] == "pending"
    await index.run(alice.workspace_id)
    assert (await alice.client.get(f"/v1/documents/{wanted['id']}")).json()["data"]["status"] == "ready"
    hits = await found(alice, "where can guests park an automobile?")
    assert hits[0]["documentId"] == wanted["id"]
    assert "old mill" in hits[0]["highlight"]
    assert hits[0]["score"] >= 0.35
    chunks = await index.chunks(wanted["id"])
    assert chunks[UUID(hits[0]["chunkId"])] == hits[0]["highlight"]
    assert await index.faults(alice.workspace_id) == []


async def test_an_edit_embeds_only_what_changed_and_keeps_the_ids_of_the_rest(alice, make, index, model):
    document = await make.document(alice.client, title="House rules", content=f"{FIRST}\n\n{SECOND}\n\n{THIRD}\n")
    await index.run(alice.workspace_id)
    before = await index.chunks(document["id"])
    assert len(model.texts) == 1 + len(before)
    model.texts.clear()
    changed = SECOND.replace("old mill", "new theatre")
    await patch(alice, document, content=f"{FIRST}\n\nA fresh start.\n\n{changed}\n\n{THIRD}\n")
    await index.run(alice.workspace_id)
    after = await index.chunks(document["id"])
    assert {text for id_, text in before.items() if id_ in after} >= {THIRD.split("\n\n")[1]}
    fresh = {text for id_, text in after.items() if id_ not in before}
    embedded = [text for text in model.texts if not text.startswith("House rules\n")]
    assert {text.split("\n", 1)[1] for text in embedded} == fresh
    assert len(model.texts) == len(fresh) + 1  # and the document as a whole
    assert not any(THIRD.split("\n\n")[1] == text.split("\n", 1)[1] for text in embedded)
    assert await index.faults(alice.workspace_id) == []


async def test_tags_alone_embed_nothing(alice, make, index, model):
    document = await make.document(alice.client, title="House rules", content=FIRST)
    await index.run(alice.workspace_id)
    before = await index.chunks(document["id"])
    model.texts.clear()
    await patch(alice, document, tags=["rules"])
    await index.run(alice.workspace_id)
    assert model.texts == []
    assert await index.chunks(document["id"]) == before
    assert (await index.status(document["id"]))[0] == "ready"


async def test_a_new_title_is_found_and_the_old_one_is_not(alice, make, index):
    document = await make.document(alice.client, title="Zanzibar ledger", content="Figures of the spice trade.")
    await index.run(alice.workspace_id)
    assert (await found(alice, "zanzibar"))[0]["documentId"] == document["id"]
    await patch(alice, document, title="Madagascar ledger")
    await index.run(alice.workspace_id)
    assert (await found(alice, "madagascar"))[0]["title"] == "Madagascar ledger"
    terms = {term for _, _, _, term, _, _ in await index.terms(alice.workspace_id)}
    assert "madagascar" in terms
    assert "zanzibar" not in terms
    assert await index.statistics(alice.workspace_id) == await index.recount(alice.workspace_id)


async def test_a_deleted_document_is_gone_from_search_at_once_and_from_the_index_soon(alice, make, index):
    shared = "The lighthouse keeper counts the ships that pass the northern cape."
    kept = await make.document(alice.client, title="Kept", content=f"# Cape\n\n{shared}")
    gone = await make.document(alice.client, title="Kept", content=f"# Cape\n\n{shared}\n\n# More\n\nAnd the gulls.")
    await index.run(alice.workspace_id)
    vectors = await index.count("vectors", alice.workspace_id)
    assert (await alice.client.delete(f"/v1/documents/{gone['id']}")).status_code == 204
    assert [hit["documentId"] for hit in await found(alice, "lighthouse keeper")] == [kept["id"]]
    assert [hit["documentId"] for hit in await found(alice, "lighthouse", semantic="false")] == [kept["id"]]
    await index.run(alice.workspace_id)
    assert await index.chunks(gone["id"]) == {}
    assert await index.count("vectors", alice.workspace_id) == vectors - 2  # the document, and the gulls
    assert await index.faults(alice.workspace_id) == []
    assert await index.statistics(alice.workspace_id) == await index.recount(alice.workspace_id)
    await alice.client.delete(f"/v1/documents/{kept['id']}")
    await index.run(alice.workspace_id)
    assert {await index.count(table, alice.workspace_id) for table in ("chunks", "postings", "vectors")} == {0}
    assert await index.statistics(alice.workspace_id) == {}


_WORDS = [
    "alpha",
    "beta",
    "running",
    "runner",
    "ran",
    "the",
    "of",
    "Über",
    "naïve",
    "漢字",
    "don't",
    "v2.0",
    "kéy",
    "🙂",
]


def _text(source):
    blocks = []
    for _ in range(source.randrange(5)):
        heading = f"{'#' * source.randrange(1, 4)} {source.choice(_WORDS)}\n\n" if source.random() < 0.5 else ""
        blocks.append(heading + " ".join(source.choice(_WORDS) for _ in range(source.randrange(1, 30))))
    return "\n\n".join(blocks)


@pytest.mark.parametrize("seed", range(4))
async def test_statistics_and_postings_equal_a_recount_from_scratch(seed, alice, bob, make, index):
    source = random.Random(seed)
    texts: dict[str, tuple[str, str]] = {}
    for step in range(24):
        operation = source.choice(["create", "update", "update", "rename", "delete", "index"])
        chosen = source.choice(sorted(texts)) if texts else None
        if operation == "create" or chosen is None:
            title, content = f"Title {step} {source.choice(['alpha', 'the', 'runs'])}", _text(source)
            made = await make.document(alice.client, title=title, content=content)
            texts[made["id"]] = (title, content)
        elif operation == "update":
            texts[chosen] = (texts[chosen][0], _text(source))
            await patch(alice, {"id": chosen}, content=texts[chosen][1])
        elif operation == "rename":
            texts[chosen] = (f"Renamed {step}", texts[chosen][1])
            await patch(alice, {"id": chosen}, title=texts[chosen][0])
        elif operation == "delete":
            await alice.client.delete(f"/v1/documents/{chosen}")
            del texts[chosen]
        else:
            await index.run(alice.workspace_id)
            assert await index.statistics(alice.workspace_id) == await index.recount(alice.workspace_id)
    await index.run(alice.workspace_id)
    for title, content in texts.values():
        await make.document(bob.client, title=title, content=content)
    await index.run(bob.workspace_id)
    assert await index.statistics(alice.workspace_id) == await index.recount(alice.workspace_id)
    assert await index.statistics(alice.workspace_id) == await index.statistics(bob.workspace_id)
    assert await index.terms(alice.workspace_id) == await index.terms(bob.workspace_id)
    assert await index.faults(alice.workspace_id) == []


async def test_an_edit_during_indexing_is_not_lost(alice, make, index, database, monkeypatch):
    monkeypatch.setattr(service, "WORK_SECONDS", 0)  # one claim and one batch a pass
    document = await make.document(alice.client, title="Plan", content="The old plan speaks of badgers.")

    class Meddler:
        name, dim = index.embedder.name, index.embedder.dim
        done = False

        async def embed(self, texts):
            if not self.done:
                self.done = True
                await patch(alice, document, content="The new plan speaks of otters.")
            return await index.embedder.embed(texts)

    assert await service.index_workspace(database, Meddler(), alice.workspace_id)
    assert (await index.status(document["id"]))[0] == "pending"
    meta = (await alice.client.get("/v1/search", params={"q": "plan"})).json()["meta"]
    assert meta["pending"] == 1
    await index.run(alice.workspace_id)
    assert (await index.status(document["id"]))[0] == "ready"
    assert list((await index.chunks(document["id"])).values()) == ["The new plan speaks of otters."]
    assert await index.faults(alice.workspace_id) == []
    assert await index.statistics(alice.workspace_id) == await index.recount(alice.workspace_id)


async def test_a_deletion_during_indexing_is_not_lost(alice, make, index, database):
    document = await make.document(alice.client, title="Plan", content="The old plan speaks of badgers.")

    class Meddler:
        name, dim = index.embedder.name, index.embedder.dim

        async def embed(self, texts):
            await alice.client.delete(f"/v1/documents/{document['id']}")
            return await index.embedder.embed(texts)

    assert await service.index_workspace(database, Meddler(), alice.workspace_id)
    await index.run(alice.workspace_id)
    assert {await index.count(table, alice.workspace_id) for table in ("chunks", "postings", "vectors")} == {0}


async def test_an_edit_between_claim_and_chunks_is_not_lost(alice, make, index, database):
    document = await make.document(alice.client, title="Plan", content="The old plan speaks of badgers.")
    (claimed,) = await service._claim(database, alice.workspace_id, shortest=False)
    await patch(alice, document, content="The new plan speaks of otters.")
    assert not await service._chunked(database, alice.workspace_id, claimed)
    assert await index.chunks(document["id"]) == {}
    await index.run(alice.workspace_id)
    assert list((await index.chunks(document["id"])).values()) == ["The new plan speaks of otters."]


async def test_workers_side_by_side_index_each_document_once(alice, make, index, model):
    for number in range(30):
        await make.document(alice.client, title=f"Note {number}", content=f"Wagon {number} carries coal and salt.")
    await asyncio.gather(*(index.run(alice.workspace_id) for _ in range(4)))
    await index.run(alice.workspace_id)
    assert len(model.texts) == len(set(model.texts)) == 30  # the only passage of a note is the note
    assert await index.count("chunks", alice.workspace_id) == 90
    assert await index.statistics(alice.workspace_id) == await index.recount(alice.workspace_id)
    assert await index.faults(alice.workspace_id) == []


async def test_a_claim_that_ran_out_is_taken_over_and_both_leave_one_index(alice, make, index, database, sql):
    document = await make.document(alice.client, title="Slow", content=f"{FIRST}\n\n{SECOND}\n")
    (slow,) = await service._claim(database, alice.workspace_id, shortest=False)
    await sql.execute("UPDATE documents SET index_claimed_until = now() - interval '1 s' WHERE id = $1", document["id"])
    (fast,) = await service._claim(database, alice.workspace_id, shortest=False)
    await asyncio.gather(
        service._chunked(database, alice.workspace_id, slow), service._chunked(database, alice.workspace_id, fast)
    )
    await service._release(database, alice.workspace_id, [slow])
    await index.run(alice.workspace_id)
    assert (await index.status(document["id"]))[0] == "ready"
    assert await index.faults(alice.workspace_id) == []
    assert await index.statistics(alice.workspace_id) == await index.recount(alice.workspace_id)


async def test_a_text_of_two_tenants_has_a_vector_for_each(alice, bob, make, index, model):
    for user in (alice, bob):
        await make.document(user.client, title="Same", content="A text that both of them keep.")
        await index.run(user.workspace_id)
    assert len(model.texts) == 2
    assert await index.count("vectors", alice.workspace_id) == 1
    document = (await alice.client.get("/v1/documents")).json()["data"][0]
    await alice.client.delete(f"/v1/documents/{document['id']}")
    await index.run(alice.workspace_id)
    assert await index.count("vectors", alice.workspace_id) == 0
    assert await index.count("vectors", bob.workspace_id) == 1


async def test_a_text_that_only_blanks_hold_becomes_ready(alice, make, index):
    document = await make.document(alice.client, title="...", content=" \n\t\n")
    await index.run(alice.workspace_id)
    assert await index.status(document["id"]) == ("ready", None)
    assert await index.faults(alice.workspace_id) == []


async def test_a_claim_takes_the_oldest_first_and_no_more_than_its_limit(alice, make, database):
    made = [await make.document(alice.client, title=f"N {n}") for n in range(service.CLAIM_DOCUMENTS + 2)]
    async with database.tx(alice.workspace_id) as tx:
        claimed = await claims.claim_documents(tx, attempts=(0, 1), limit=5, seconds=30, shortest=False)
    assert [str(item.id) for item in claimed] == [document["id"] for document in made[:5]]
