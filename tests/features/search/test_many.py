"""Workspaces with so many vectors that the approximate index is asked: the same is found, and filters hold."""

from __future__ import annotations

import pytest_asyncio

from app.features.indexing import serving
from tests.contract.requirements import proves

TEXTS = {
    "Boats": "The fishermen paint their boats blue before the season begins.",
    "Bread": "Rye needs a sourdough that has stood for a night.",
    "Clocks": "The old tower clock strikes a quarter of an hour too late.",
    "Rivers": "In spring the river carries gravel down to the plain.",
}
QUERY = "vessels of those who catch fish"


@pytest_asyncio.fixture
async def many(alice, make, index, monkeypatch):
    monkeypatch.setattr(serving, "_CACHE_SECONDS", 0.0)
    found = {}
    for title, content in TEXTS.items():
        found[title] = await make.document(alice.client, title=title, content=content, tags=[title.lower()])
    await index.run(alice.workspace_id)
    return found


async def asked(user, **options):
    found = (await user.client.get("/v1/search", params={"q": QUERY, "type": "documents", **options})).json()
    passages = (await user.client.post("/v1/pd/search", json={"query": QUERY})).json()["data"]["results"]
    return found["data"], [(hit["chunkId"], hit["score"]) for hit in passages]


@proves("RECALL-MANY")
async def test_the_approximate_index_finds_what_comparing_all_finds(alice, many, monkeypatch):
    exact = await asked(alice)
    monkeypatch.setattr(serving, "EXACT_BELOW", 0)
    assert await asked(alice) == exact
    assert exact[0]["documents"][0]["title"] == "Boats"


@proves("RECALL-MANY")
async def test_filters_sessions_and_narrow_keys_are_compared_exactly(alice, many, make, monkeypatch):
    monkeypatch.setattr(serving, "EXACT_BELOW", 0)
    tagged, _ = await asked(alice, tags="boats")
    assert [hit["title"] for hit in tagged["documents"]] == ["Boats"]
    shelf = await make.collection(alice.client, name="Shelf", items=[many["Boats"]["id"]])
    narrow = await make.restricted(alice, shelf["id"])
    found, passages = await asked(narrow)
    assert ([hit["title"] for hit in found["documents"]], len(passages)) == (["Boats"], 1)
    seen, session = set(), None
    for _ in TEXTS:
        body = {"query": QUERY, "limit": 1} | ({"sessionId": session} if session else {})
        data = (await alice.client.post("/v1/pd/search", json=body)).json()["data"]
        session = data["meta"]["sessionId"]
        seen |= {hit["chunkId"] for hit in data["results"]}
    assert len(seen) == len(TEXTS)
