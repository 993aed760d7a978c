"""Documents that cannot be indexed, jobs that are lost, workers that are told to stop."""

from __future__ import annotations

import asyncio

import pytest

from app.features.indexing import jobs as indexing_jobs
from app.features.indexing import service
from app.features.indexing.serving import Embedders
from app.gate.index import index_job
from app.store import jobs

EXPIRE = "UPDATE documents SET index_claimed_until = now() - interval '1 s' WHERE workspace_id = $1"
QUEUED = "SELECT count(*) FROM pgqueuer WHERE payload = $1"


class Poisoned:
    """The model of the tests, with one text that it cannot bear."""

    def __init__(self, model, error=RuntimeError):
        self.name, self.dim = model.name, model.dim
        self._model, self._error = model, error

    async def embed(self, texts):
        if any("poison" in text for text in texts):
            raise self._error
        return await self._model.embed(texts)


@pytest.fixture
def work(database, model):
    return jobs.Work(database, {Embedders: Embedders(model)})


async def queued(sql, workspace_id):
    return await sql.fetchval(QUEUED, jobs.encode(index_job(workspace_id).payload))


async def claim(database, workspace_id):
    return await service._claim(database, workspace_id, shortest=False) or await service._claim_suspect(
        database, workspace_id
    )


async def exhaust(index, workspace_id, embedder):
    for _ in range(60):
        try:
            if not await service.index_workspace(index.database, embedder, workspace_id):
                return
        except RuntimeError:
            pass
    pytest.fail("it never ends")


async def test_a_text_that_cannot_be_read_fails_with_its_reason_and_is_left_alone(alice, make, index, monkeypatch):
    starts = []

    def breaking(document_id, title, text):
        starts.append(title)
        if "broken" in text:
            raise IndexError("no such heading")
        return service_chunk(document_id, title, text)

    service_chunk = service.chunk
    monkeypatch.setattr(service, "chunk", breaking)
    good = await make.document(alice.client, title="Good", content="Sound text.")
    bad = await make.document(alice.client, title="Bad", content="broken text")
    await index.run(alice.workspace_id)
    await index.run(alice.workspace_id)
    assert await index.status(bad["id"]) == ("failed", "The text cannot be read as Markdown (IndexError).")
    assert (await index.status(good["id"]))[0] == "ready"
    assert starts.count("Bad") == 1
    assert (await alice.client.get("/v1/search", params={"q": "text"})).json()["meta"]["pending"] == 0
    literal = await alice.client.get("/v1/search", params={"q": "broken", "semantic": "false"})
    assert [hit["status"] for hit in literal.json()["data"]["documents"]] == ["failed"]
    await alice.client.patch(f"/v1/documents/{bad['id']}", json={"content": "mended"})
    await index.run(alice.workspace_id)
    assert await index.status(bad["id"]) == ("ready", None)


async def test_a_text_that_fails_in_the_model_ends_failed_and_its_neighbours_ready(alice, make, index, model):
    neighbours = [await make.document(alice.client, title=f"N {n}", content=f"Neighbour {n}.") for n in range(6)]
    bad = await make.document(alice.client, title="Bad", content="It holds poison.")
    await exhaust(index, alice.workspace_id, Poisoned(model))
    assert await index.status(bad["id"]) == ("failed", service._EXHAUSTED)
    assert {(await index.status(document["id"]))[0] for document in neighbours} == {"ready"}
    await alice.client.patch(f"/v1/documents/{bad['id']}", json={"content": "It is harmless now."})
    await exhaust(index, alice.workspace_id, Poisoned(model))
    assert await index.status(bad["id"]) == ("ready", None)


async def test_a_document_that_ends_its_worker_again_and_again_is_given_up(alice, make, index, sql, database):
    bad = await make.document(alice.client, title="Bad", content="It ends its worker.")
    for _ in range(service.MAX_ATTEMPTS):
        assert len(await claim(database, alice.workspace_id)) == 1
        await sql.execute(EXPIRE, alice.workspace_id)  # the worker is gone and renews nothing
    assert await claim(database, alice.workspace_id) == []
    assert await index.status(bad["id"]) == ("failed", service._EXHAUSTED)
    await alice.client.delete(f"/v1/documents/{bad['id']}")
    await index.run(alice.workspace_id)
    assert await index.count("chunks", alice.workspace_id) == 0


async def test_a_deletion_is_carried_out_however_often_it_was_started(alice, make, index, sql):
    document = await make.document(alice.client, title="Gone", content="Soon forgotten.")
    await index.run(alice.workspace_id)
    await alice.client.delete(f"/v1/documents/{document['id']}")
    await sql.execute("UPDATE documents SET index_attempts = 50 WHERE id = $1", document["id"])
    await index.run(alice.workspace_id)
    assert await index.count("chunks", alice.workspace_id) == 0


async def test_being_told_to_stop_is_not_held_against_the_documents(alice, make, sql, database, model):
    document = await make.document(alice.client, title="Patient", content="Its poison ends nobody.")
    for _ in range(service.MAX_ATTEMPTS + 1):
        with pytest.raises(asyncio.CancelledError):
            await service.index_workspace(database, Poisoned(model, asyncio.CancelledError), alice.workspace_id)
    row = await sql.fetchrow("SELECT index_attempts, index_claimed_until FROM documents WHERE id = $1", document["id"])
    assert tuple(row) == (0, None)


async def test_a_write_that_is_rolled_back_leaves_no_job(alice, make, sql):
    document = await make.document(alice.client, title="One")
    before = await queued(sql, alice.workspace_id)
    assert before == 1
    refused = await alice.client.patch(
        f"/v1/documents/{document['id']}", json={"content": "Two", "expectedRevision": 7}
    )
    assert refused.status_code == 409
    assert await queued(sql, alice.workspace_id) == before
    same = await alice.client.patch(f"/v1/documents/{document['id']}", json={"title": "One"})
    assert same.json()["data"]["noop"] is True
    assert await queued(sql, alice.workspace_id) == before


async def test_the_jobs_of_an_import_become_one(alice, bob, make, sql, work):
    for number in range(12):
        await make.document(alice.client, title=f"Import {number}")
    await make.document(bob.client)
    assert await queued(sql, alice.workspace_id) == 1
    payload = index_job(alice.workspace_id).payload
    await indexing_jobs.index(work, payload)
    assert await queued(sql, alice.workspace_id) == 1
    assert await queued(sql, bob.workspace_id) == 1
    await indexing_jobs.index(work, payload)
    await indexing_jobs.index(work, payload)
    assert await queued(sql, alice.workspace_id) == 0


async def test_a_sweep_asks_for_workspaces_whose_job_was_lost(alice, bob, make, sql, work, index):
    await make.document(alice.client)
    gone = await make.document(bob.client)
    await index.run(bob.workspace_id)
    await sql.execute("DELETE FROM pgqueuer")
    await indexing_jobs.sweep(work)
    assert await queued(sql, alice.workspace_id) == 1
    assert await queued(sql, bob.workspace_id) == 0
    await bob.client.delete(f"/v1/documents/{gone['id']}")
    await sql.execute("DELETE FROM pgqueuer")
    await indexing_jobs.sweep(work)
    assert await queued(sql, bob.workspace_id) == 1


async def test_sweeps_do_not_pile_jobs_up(alice, make, sql, work):
    await make.document(alice.client)
    for _ in range(5):
        await indexing_jobs.sweep(work)
    assert await queued(sql, alice.workspace_id) == 1


async def test_a_claimed_document_is_nobody_elses_until_the_claim_runs_out(alice, make, database, sql, work):
    await make.document(alice.client)
    assert len(await claim(database, alice.workspace_id)) == 1
    assert await claim(database, alice.workspace_id) == []
    await sql.execute("DELETE FROM pgqueuer")
    await indexing_jobs.sweep(work)
    assert await queued(sql, alice.workspace_id) == 0
    await sql.execute(EXPIRE, alice.workspace_id)
    assert len(await claim(database, alice.workspace_id)) == 1
