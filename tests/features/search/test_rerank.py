"""The order of a reranker behind a real HTTP server: what it is shown, what follows its order, and when it fails."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest
import pytest_asyncio
from pydantic import SecretStr, ValidationError

from app.features.search import service as search
from app.features.search.service import RERANKED
from app.settings import Settings
from app.store.tx import Tx
from tests.contract.requirements import proves
from tests.edge.mcp.wire import LEGACY_ERA
from tests.support.factories import Make
from tests.support.reranker import by_letter, little_reranker
from tests.support.service import client_of, serving

SEARCH, DEEP = "/v1/search", "/v1/pd/search"


@pytest.fixture(scope="module")
def endpoint():
    with little_reranker() as running:
        yield running


@pytest.fixture(scope="module")
def given(settings, endpoint):
    """Settings with that model, and one connection for all that reads."""
    return settings.model_copy(
        update={
            "rerank_url": endpoint.url + "/",
            "rerank_model": "letters-1",
            "rerank_api_key": SecretStr("sk-secret"),
            "rerank_seconds": 5.0,
            "rerank_calls_per_day": 8,
            "pool_size": 1,
        }
    )


@pytest_asyncio.fixture(scope="module")
async def reranked(given, database):
    """Factories of an instance with that model."""
    async with serving(given) as app:
        yield Make(app, database)


@pytest.fixture(autouse=True)
def fresh(endpoint):
    endpoint.asked.clear()
    endpoint.headers.clear()
    endpoint.says, endpoint.seconds, endpoint.voyage = by_letter, 0.0, False


@pytest.fixture
def harbour(reranked, index):
    """A user with documents about harbours, of which each is a passage; the third has the most of the letter."""

    async def put(count=4):
        user = await reranked.user()
        for number in range(count):
            text = f"The harbour number {number} is deep. {'Z ' * number if number < 3 else 'Z'}"
            await reranked.document(user.client, title=f"Harbour {number}", content=text)
        await index.run(user.workspace_id)
        return user

    return put


@pytest.fixture
def plainly(service):
    """The same user's client of the instance without a reranker."""
    return lambda user: client_of(service, f"API-Key {user.key}")


async def documents(client, q="harbour", **params):
    answer = await client.get(SEARCH, params={"q": q, "type": "documents", **params})
    assert answer.status_code == 200, answer.text
    body = answer.json()
    return body["data"]["documents"], body["meta"]


async def passages(client, query="harbour", **body):
    answer = await client.post(DEEP, json={"query": query, **body})
    assert answer.status_code == 200, answer.text
    data = answer.json()["data"]
    return data["results"], data["meta"]


def titles(hits):
    return [hit.get("title") or hit["documentTitle"] for hit in hits]


def ordered(hits):
    """Where the test's model puts hits: by their letters, equals as they are."""
    return sorted(hits, key=lambda hit: -(hit.get("highlight") or hit["content"]).count("Z"))


@proves("RERANK", "RERANK-OFF")
@pytest.mark.parametrize("find", [documents, passages])
async def test_the_order_is_the_models_and_the_scores_are_the_searchs(harbour, plainly, endpoint, find):
    user = await harbour()
    async with plainly(user) as client:
        before, _ = await find(client)
    assert endpoint.asked == []
    found, meta = await find(user.client)
    assert (titles(found)[0], titles(found)[-1]) == ("Harbour 2", "Harbour 0")
    assert found == ordered(before)  # with their scores, and equals as they were
    assert titles(found) != titles(before)
    assert "notice" not in meta
    (sent,) = endpoint.asked
    assert (sent["model"], sent["query"], sent["top_n"]) == ("letters-1", "harbour", 4)
    assert [text.partition("\n")[0] for text in sent["documents"]] == titles(before)
    assert endpoint.headers[0]["authorization"] == "Bearer sk-secret"


@proves("RERANK")
async def test_links_of_the_tool_search_follow_it(harbour):
    user = await harbour()
    result = await LEGACY_ERA.call(user.client, "search", {"query": "harbour"})
    assert titles(result["structuredContent"]["results"])[0] == "Harbour 2"


@proves("RERANK")
@pytest.mark.parametrize("find", [documents, passages])
async def test_at_most_thirty_are_shown_and_those_behind_stay_there(harbour, plainly, endpoint, find):
    user = await harbour(RERANKED + 4)
    async with plainly(user) as client:
        before, _ = await find(client, limit=40)
    endpoint.says = lambda sent: [float(place) for place in range(len(sent["documents"]))]
    found, _ = await find(user.client, limit=40)
    assert len(endpoint.texts) == RERANKED
    assert titles(found) == [*reversed(titles(before)[:RERANKED]), *titles(before)[RERANKED:]]
    few, _ = await find(user.client, limit=3)
    assert few == found[:3]  # from behind the limit


@proves("RERANK-REACH")
@pytest.mark.parametrize("find", [documents, passages])
async def test_what_is_shown_is_cut_and_has_no_hidden_characters(harbour, reranked, endpoint, index, find, monkeypatch):
    user = await harbour(1)
    headings = "\n\n".join(f"{'#' * level} Mole {'of stones ' * 300}" for level in range(1, 7))
    await reranked.document(user.client, title="T" * 500, content=f"{headings}\n\nA harbour\u202e is below.")
    await index.run(user.workspace_id)
    found, _ = await find(user.client)
    (shown,) = (hit for hit in found if "is below" in (hit.get("highlight") or hit["content"]))
    assert "\u202e" in (shown.get("highlight") or shown["content"])
    assert "\u202e" not in "".join(endpoint.texts)
    assert any(text.endswith("is below.") for text in endpoint.texts)  # titles and headings leave room for it
    assert max(map(len, endpoint.texts)) <= search.RERANKED_CHARACTERS
    monkeypatch.setattr(search, "RERANKED_CHARACTERS", 60)
    await find(user.client)
    assert max(map(len, endpoint.texts)) == 60


@proves("RERANK-REACH")
async def test_only_what_the_caller_finds_is_shown(harbour, reranked, endpoint):
    user, other = await harbour(3), await harbour(4)
    some = await reranked.document(user.client, title="Mole", content="No word of it.")
    hits, _ = await documents(user.client)
    endpoint.asked.clear()
    inside = await reranked.collection(user.client, items=[hits[0]["documentId"], hits[1]["documentId"], some["id"]])
    holder = await reranked.restricted(user, inside["id"])
    for find in (documents, passages):
        found, _ = await find(holder.client)
        assert len(found) == len(endpoint.texts) == 2
        assert len((await find(other.client))[0]) == len(endpoint.texts) == 4


@proves("RERANK")
async def test_a_session_shows_each_passage_once(harbour):
    user = await harbour(35)
    seen, session = [], {}
    for _ in range(4):
        found, meta = await passages(user.client, limit=10, **session)
        session = {"sessionId": meta["sessionId"]}
        seen.append([hit["chunkId"] for hit in found])
    assert [len(page) for page in seen] == [10, 10, 10, 5]
    assert len({chunk for page in seen for chunk in page}) == 35


@proves("RERANK")
async def test_reason_reads_the_passages_that_it_chooses(harbour, endpoint):
    user = await harbour(6)
    answer = await user.client.post("/v1/reason", json={"query": "Which harbour is deep?", "limit": 1})
    data = answer.json()["data"]
    assert "number 2 is deep" in data["answer"]
    assert "Only the 1 nearest passages were read; others may say more." in data["limitations"]
    endpoint.says = 500
    answer = await user.client.post("/v1/reason", json={"query": "Which harbour is deep?", "limit": 1})
    assert any("The reranker failed" in text for text in answer.json()["data"]["limitations"])


@proves("RERANK-OFF")
async def test_nothing_is_sent_where_there_is_no_order_of_meaning(harbour, reranked, endpoint):
    user = await harbour()
    assert len((await documents(user.client, semantic="false"))[0]) == 4
    assert len((await documents(user.client, asOf="2100-01-01T00:00:00Z"))[0]) == 4
    assert (await user.client.get("/v1/pack", params={"query": "harbour", "tokens": 500})).status_code == 200
    await reranked.prompt(user.client, title="Harbour")
    await documents(user.client, type="prompts")
    await documents(user.client, type="collections")
    assert endpoint.asked == []
    alone = await harbour(1)
    assert len((await documents(alone.client))[0]) == len((await passages(alone.client))[0]) == 1
    assert endpoint.asked == []


def results(*rows):
    return json.dumps({"results": [{"index": place, "relevance_score": score} for place, score in rows]}).encode()


@proves("RERANK-AWAY")
@pytest.mark.parametrize("find", [documents, passages])
@pytest.mark.parametrize(
    ("says", "why"),
    [
        (500, "it answered with status 500"),
        (401, "it answered with status 401"),
        (307, "it answered with status 307"),
        (b"<html>", "its answer has no form that is known"),
        (b"[]", "its answer has no form that is known"),
        (b'{"results": [{"index": 0}]}', "its answer has no form that is known"),
        (b'{"results": [{"index": [], "relevance_score": 1}]}', "its answer has no form that is known"),
        (b'{"results": []}', "its answer does not hold one score for each text"),
        (results((0, 1), (1, 2), (2, 3)), "its answer does not hold one score for each text"),
        (results((0, 1), (1, 2), (2, 3), (2, 4)), "its answer does not hold one score for each text"),
        (results((0, 1), (1, 2), (2, 3), (3, 4), (3, 4)), "its answer does not hold one score for each text"),
        (results((0, 1), (1, 2), (2, 3), (4, 4)), "its answer does not hold one score for each text"),
        (results((0, 1), (1, 2), (2, 3), (3, float("nan"))), "its scores hold what is no number"),
        (results((0, 1), (1, 2), (2, 3), (3, 10**400)), "its answer has no form that is known"),
        (b" " * 2**21, "its answer is too large"),
    ],
    ids=lambda value: repr(value)[:40] if isinstance(value, bytes | int) else "",
)
async def test_what_fails_leaves_the_order_and_is_said(harbour, plainly, endpoint, find, says, why):
    user = await harbour()
    async with plainly(user) as client:
        before, plain = await find(client)
    endpoint.says = says
    found, meta = await find(user.client)
    assert found == before
    assert meta["notice"] == f"The reranker failed ({why}): results are in the order of the search itself."
    assert meta.get("mode") == plain.get("mode") != "lexical"
    assert len(endpoint.asked) == 1


@proves("RERANK-AWAY", "RERANK-BUDGET")
@pytest.mark.parametrize("find", [documents, passages])
async def test_nobody_waits_longer_than_its_seconds(harbour, endpoint, find):
    user = await harbour()
    endpoint.seconds = 60.0
    began = asyncio.get_running_loop().time()
    found, meta = await find(user.client)
    assert asyncio.get_running_loop().time() - began < 20.0  # of which the model has five; the rest is a busy machine
    assert len(found) == 4
    assert "did not answer within 5 s" in meta["notice"] or "cannot be reached" in meta["notice"]


@proves("RERANK-AWAY", "RERANK-BUDGET")
async def test_one_that_is_gone_and_one_that_is_tried_again(given, harbour, endpoint, database):
    user = await harbour()
    gone = given.model_copy(update={"rerank_url": "http://127.0.0.1:1"})
    async with serving(gone) as app, client_of(app, f"API-Key {user.key}") as client:
        found, meta = await documents(client)
        assert len(found) == 4
        assert "it cannot be reached" in meta["notice"]
        assert "127.0.0.1" not in str(meta)
    endpoint.says = lambda sent: 503 if len(endpoint.asked) == 1 else by_letter(sent)
    patient = given.model_copy(update={"rerank_tries": 2})
    async with serving(patient) as app, client_of(app, f"API-Key {user.key}") as client:
        assert titles((await documents(client))[0])[0] == "Harbour 2"


@proves("RERANK-BUDGET")
async def test_the_calls_of_a_workspace_and_day_are_counted_before_they_are_made(harbour, endpoint):
    user, other = await harbour(), await harbour()
    for _ in range(8):
        assert "notice" not in (await documents(user.client))[1]
    _, meta = await documents(user.client)
    assert "the 8 calls of the day are spent" in meta["notice"]
    assert len(endpoint.asked) == 8
    assert "notice" not in (await documents(other.client))[1]


@proves("RERANK")
async def test_voyage_is_asked_its_way(given, harbour, endpoint):
    user = await harbour()
    endpoint.voyage = True
    async with serving(given) as app, client_of(app, f"API-Key {user.key}") as client:
        for _ in range(2):
            found, meta = await documents(client)
            assert titles(found)[0] == "Harbour 2"
            assert "notice" not in meta
    assert ["top_k" in sent for sent in endpoint.asked] == [False, True, True]


@proves("RERANK-REACH")
@pytest.mark.parametrize("find", [documents, passages])
async def test_no_snapshot_is_open_while_the_model_thinks(harbour, endpoint, find, monkeypatch):
    user = await harbour()
    await find(user.client)  # whose vectors serve is remembered for some seconds
    endpoint.asked.clear()
    ran, fetch = [], Tx.fetch
    asked = asyncio.Event()
    loop, answered = asyncio.get_running_loop(), threading.Event()

    async def counted(self, sql, *args):
        ran.append(sql)
        return await fetch(self, sql, *args)

    def says(sent):
        loop.call_soon_threadsafe(asked.set)
        answered.wait(10)
        return by_letter(sent)

    monkeypatch.setattr(Tx, "fetch", counted)
    endpoint.says = says
    finding = asyncio.create_task(find(user.client))
    await asyncio.wait_for(asked.wait(), 10)
    assert len(ran) == 2
    assert (await user.client.get("/v1/documents")).status_code == 200  # by the one connection that reads
    assert not finding.done()
    answered.set()
    found, meta = await finding
    assert (titles(found)[0], "notice" in meta) == ("Harbour 2", False)


@pytest.mark.parametrize(
    "given",
    [
        {"rerank_url": "ftp://model.test"},
        {"rerank_url": "https://user:secret@model.test/v1"},
        {"rerank_url": "https://model.test/v1", "rerank_model": ""},
        {"rerank_seconds": 0},
    ],
)
def test_settings_that_cannot_work_are_refused_at_the_start(given):
    with pytest.raises(ValidationError, match=r"(?i)rerank_"):
        Settings(**({"rerank_model": "a"} | given))
