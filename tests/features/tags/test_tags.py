"""The tags in use."""

from __future__ import annotations

import base64
import json

import pytest

from tests.contract.requirements import proves


async def listed(client, **params):
    answer = await client.get("/v1/tags", params=params)
    assert answer.status_code == 200, answer.text
    return [(item["tag"], item["count"], item["kinds"]) for item in answer.json()["data"]]


@proves("TAGS")
async def test_tags_are_counted_over_documents_and_collections(alice, bob, make):
    await make.document(bob.client, tags=["foreign"])
    await make.document(alice.client, tags=["sea", "Light"])
    await make.collection(alice.client, tags=["sea"])
    gone = await make.document(alice.client, tags=["sea", "gone"])
    await alice.client.delete(f"/v1/documents/{gone['id']}")
    assert await listed(alice.client) == [("Light", 1, {"document": 1}), ("sea", 2, {"document": 1, "collection": 1})]
    assert await listed(alice.client, search="LIG") == [("Light", 1, {"document": 1})]
    prompts = make.client(await make.key(alice, scopes=("prompts.read",)))
    assert await listed(prompts) == []


@proves("TAGS")
async def test_tags_come_in_pages(alice, make):
    await make.document(alice.client, tags=[*"edcba", "ü"])
    seen, cursor = [], None
    while cursor or not seen:
        page = (await alice.client.get("/v1/tags", params={"limit": 2} | ({"cursor": cursor} if cursor else {}))).json()
        seen += [item["tag"] for item in page["data"]]
        cursor = page["pagination"]["cursor"]
        assert page["pagination"]["hasMore"] is bool(cursor)
    assert seen == [*"abcde", "ü"]


@pytest.mark.parametrize("value", [["\x00"], [], ["a", "b"], {}, [1]])
async def test_a_cursor_of_tags_that_is_not_ours_is_refused(alice, value):
    cursor = base64.urlsafe_b64encode(json.dumps(value).encode()).decode()
    answer = await alice.client.get("/v1/tags", params={"cursor": cursor})
    assert answer.status_code == 400


@proves("TAGS", "KEY-COLLECTIONS")
async def test_a_restricted_key_sees_the_tags_of_members_alone(alice, make):
    member = await make.document(alice.client, tags=["open"])
    await make.document(alice.client, tags=["hidden", "open"])
    made = await make.collection(alice.client, items=[member["id"]])
    holder = await make.restricted(alice, made["id"])
    assert await listed(holder.client) == [("open", 1, {"document": 1})]
