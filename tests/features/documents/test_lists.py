"""Lists: pages, filters, cursors."""

from __future__ import annotations

import asyncio
import base64
import json

import pytest

from tests.contract.requirements import proves


async def make_many(make, client, count, **fields):
    return [await make.document(client, title=f"Item {number}", **fields) for number in range(count)]


@proves("DOC-8", "ENV-LIST", "PAGE-DEFAULT")
async def test_a_list_has_twenty_items_newest_first_without_content(alice, make):
    made = await make_many(make, alice.client, 21)
    answer = await alice.client.get("/v1/documents")
    body = answer.json()
    assert set(body) == {"data", "pagination"}
    assert [item["id"] for item in body["data"]] == [item["id"] for item in reversed(made)][:20]
    assert body["pagination"]["hasMore"] is True
    assert body["pagination"]["cursor"]
    assert all("content" not in item for item in body["data"])


async def test_an_empty_list_ends(alice):
    assert (await alice.client.get("/v1/documents")).json() == {
        "data": [],
        "pagination": {"cursor": None, "hasMore": False},
    }


@proves("PAGE-WALK", "PAGE-CAP")
async def test_a_hundred_and_one_items_come_as_a_hundred_and_one_more(alice, make):
    made = {item["id"] for item in await asyncio.gather(*[make.document(alice.client) for _ in range(101)])}
    first = (await alice.client.get("/v1/documents", params={"limit": 100})).json()
    last = (
        await alice.client.get("/v1/documents", params={"limit": 100, "cursor": first["pagination"]["cursor"]})
    ).json()
    assert (len(first["data"]), len(last["data"])) == (100, 1)
    assert {item["id"] for item in first["data"] + last["data"]} == made
    assert last["pagination"] == {"cursor": None, "hasMore": False}
    assert "notice" not in first
    over = (await alice.client.get("/v1/documents", params={"limit": 1000})).json()
    assert len(over["data"]) == 100
    assert "100" in over["notice"]


async def test_a_walk_misses_nothing_when_items_are_added_and_removed_meanwhile(alice, make):
    made = await make_many(make, alice.client, 9)
    seen, cursor = [], None
    while True:
        params = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = (await alice.client.get("/v1/documents", params=params)).json()
        seen += [item["id"] for item in page["data"]]
        await make.document(alice.client, title="Added")
        await alice.client.delete(f"/v1/documents/{seen[-1]}")
        cursor = page["pagination"]["cursor"]
        if not page["pagination"]["hasMore"]:
            break
    assert seen == [item["id"] for item in reversed(made)]


def text_of(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode()


ID = "0192f0c1-2222-7333-8444-555566667777"


@proves("PAGE-GARBAGE")
@pytest.mark.parametrize("path", ["/v1/documents", "/v1/documents/{id}/versions"])
@pytest.mark.parametrize(
    "cursor",
    [
        "x",
        "====",
        "ünïcode",
        "AAAA",
        text_of([]),
        text_of({}),
        text_of(["2026-01-01T00:00:00Z"]),
        text_of([1, 2]),
        text_of(["2026-01-01T00:00:00", ID]),
        text_of(["0001-01-01T00:00:00+14:00", ID]),
        text_of(["9999-12-31T23:59:59-14:00", ID]),
        text_of([1e300, ID]),
        text_of(["2026-01-01T00:00:00Z", ID, ID]),
        "A" * 10_000,
        "'; DROP TABLE documents; --",
    ],
)
async def test_a_cursor_that_is_not_ours_is_refused(alice, make, path, cursor):
    made = await make.document(alice.client)
    answer = await alice.client.get(path.replace("{id}", made["id"]), params={"cursor": cursor})
    assert (answer.status_code, answer.json()["error"]["reason"]) == (400, "INVALID_REQUEST")


@pytest.mark.parametrize("limit", ["0", "-1", "x", "1.5", "1e3", "", "9" * 5000, "true", "null"])
async def test_a_limit_that_is_no_positive_integer_is_refused(alice, limit):
    answer = await alice.client.get("/v1/documents", params={"limit": limit})
    assert answer.status_code == 400
    assert answer.json()["error"]["details"][0]["field"] == "limit"


@proves("DOC-8-FILTERS")
async def test_tags_narrow_to_items_that_carry_all_of_them(alice, make):
    both = await make.document(alice.client, tags=["a", "b", "c"])
    one = await make.document(alice.client, tags=["a"])
    await make.document(alice.client)

    async def found(tags):
        return [item["id"] for item in (await alice.client.get("/v1/documents", params={"tags": tags})).json()["data"]]

    assert await found("a,b") == [both["id"]]
    assert await found('["b", "a", "b"]') == [both["id"]]
    assert await found("a") == [one["id"], both["id"]]
    assert await found("a,missing") == []


async def test_a_tag_filter_follows_changes_of_tags(alice, make):
    made = await make.document(alice.client, tags=["old"])
    await alice.client.patch(f"/v1/documents/{made['id']}", json={"tags": ["new"]})
    assert (await alice.client.get("/v1/documents", params={"tags": "old"})).json()["data"] == []
    assert len((await alice.client.get("/v1/documents", params={"tags": "new"})).json()["data"]) == 1


@proves("DOC-8-FILTERS")
async def test_search_finds_titles_that_hold_the_text_whatever_the_case(alice, make):
    made = await make.document(alice.client, title="Quarterly 100% Report_ÄÖ", content="nothing")
    await make.document(alice.client, title="Other", content="quarterly")
    for text in ("quarterly", "100%", "report_", "äö", "LY 1"):
        found = (await alice.client.get("/v1/documents", params={"search": text})).json()["data"]
        assert [item["id"] for item in found] == [made["id"]], text
    for text in ("%", "_", "\\"):
        found = (await alice.client.get("/v1/documents", params={"search": f"x{text}x"})).json()["data"]
        assert found == []


async def test_an_unknown_collection_is_not_found(alice):
    answer = await alice.client.get("/v1/documents", params={"collectionId": ID})
    assert (answer.status_code, answer.json()["error"]["reason"]) == (404, "NOT_FOUND")


@proves("DOC-13")
async def test_versions_come_newest_first_in_pages(alice, make):
    made = await make.document(alice.client, content="0")
    url = f"/v1/documents/{made['id']}"
    for number in range(1, 5):
        await alice.client.patch(url, json={"content": str(number)})
    first = (await alice.client.get(f"{url}/versions", params={"limit": 3})).json()
    rest = (
        await alice.client.get(f"{url}/versions", params={"limit": 3, "cursor": first["pagination"]["cursor"]})
    ).json()
    assert [item["content"] for item in first["data"]] == ["4", "3", "2"]
    assert [item["version"] for item in rest["data"]] == [2, 1]
    assert (first["pagination"]["hasMore"], rest["pagination"]["hasMore"]) == (True, False)


async def test_a_page_of_large_versions_ends_early_and_the_next_goes_on(alice, make):
    document = await make.document(alice.client, content="0" + "x" * 3_000_000)
    for number in range(1, 8):
        body = {"content": f"{number}" + "x" * 3_000_000}
        assert (await alice.client.patch(f"/v1/documents/{document['id']}", json=body)).status_code == 200
    seen, cursor, pages = [], None, 0
    while cursor or not pages:
        query = {"cursor": cursor} if cursor else {}
        answer = await alice.client.get(f"/v1/documents/{document['id']}/versions", params=query)
        assert len(answer.content) < 12_500_000
        page = answer.json()
        seen += [version["content"][0] for version in page["data"]]
        cursor, pages = page["pagination"]["cursor"], pages + 1
        assert bool(cursor) == page["pagination"]["hasMore"] == ("notice" in page)
    assert (seen, pages) == (list("76543210"), 3)
