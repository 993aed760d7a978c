"""Walking a list by cursor while others add to it."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from tests.contract.requirements import proves

MAKERS = {
    "documents": lambda make, client, number: make.document(client, title=f"T{number}"),
    "prompts": lambda make, client, number: make.prompt(client, title=f"T{number}"),
    "collections": lambda make, client, number: make.collection(client, name=f"T{number}"),
}


@proves("PAGE-INSERTS", "PAGE-WALK")
@pytest.mark.parametrize("kind", MAKERS)
async def test_a_walk_misses_nothing_and_shows_nothing_twice_while_items_are_added(kind, alice, make):
    there = {(await MAKERS[kind](make, alice.client, number))["id"] for number in range(101)}
    walking = True

    async def add(writer):
        added = set()
        numbers = itertools.count()
        while walking:
            added.add((await MAKERS[kind](make, alice.client, f"{writer}-{next(numbers)}"))["id"])
        return added

    writers = [asyncio.create_task(add(writer)) for writer in range(3)]
    walks = await asyncio.gather(*[walk(alice.client, kind, limit) for limit in (7, 20, 100)])
    walking = False
    added = set().union(*await asyncio.gather(*writers))
    assert len(added) >= 3
    for seen in walks:
        assert len(seen) == len(set(seen))
        assert there <= set(seen)
        assert set(seen) <= there | added


async def walk(client, kind, limit):
    """The ids of a list, page by page."""
    seen, cursor = [], None
    while True:
        query = {"limit": limit} | ({"cursor": cursor} if cursor else {})
        body = (await client.get(f"/v1/{kind}", params=query)).json()
        assert len(body["data"]) <= limit
        seen += [item["id"] for item in body["data"]]
        await asyncio.sleep(0)
        if not body["pagination"]["hasMore"]:
            return seen
        cursor = body["pagination"]["cursor"]
