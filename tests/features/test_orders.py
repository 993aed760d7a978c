"""Lists by creation or by the last change: pages, cursors, the index, and the links of the dashboard."""

from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime

import pytest

from app.features.collections import queries as collections
from app.features.documents import queries as documents
from app.features.prompts import queries as prompts
from app.kit.paging import Sort
from tests.contract.requirements import proves
from tests.support.visitor import hidden, signed_in

KINDS = ["documents", "prompts", "collections"]
NAMES = {"documents": "title", "prompts": "title", "collections": "name"}


async def made(make, user, kind, count):
    one = {"documents": make.document, "prompts": make.prompt, "collections": make.collection}[kind]
    return [(await one(user.client, **{NAMES[kind]: f"Item {number}"}))["id"] for number in range(count)]


async def change(user, kind, item_id):
    answer = await user.client.patch(f"/v1/{kind}/{item_id}", json={"tags": ["changed"]})
    assert answer.status_code == 200, answer.text


async def page(user, kind, **params):
    answer = await user.client.get(f"/v1/{kind}", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


@proves("LIST-ORDER")
@pytest.mark.parametrize("kind", KINDS)
async def test_a_list_by_change_has_what_was_changed_last_first_on_all_its_pages(kind, make, alice):
    first, second, third, last = await made(make, alice, kind, 4)
    for item_id in (first, third):
        await change(alice, kind, item_id)
    orders = {"created": [last, third, second, first], "changed": [third, first, last, second]}
    for sort, expected in orders.items():
        begun = await page(alice, kind, sort=sort, limit=3)
        rest = await page(alice, kind, sort=sort, cursor=begun["pagination"]["cursor"])
        assert [item["id"] for item in begun["data"] + rest["data"]] == expected, sort
        assert rest["pagination"] == {"cursor": None, "hasMore": False}


@proves("LIST-ORDER", "PAGE-GARBAGE")
@pytest.mark.parametrize("kind", KINDS)
async def test_a_cursor_of_one_order_is_none_of_the_other(kind, make, alice):
    await made(make, alice, kind, 2)
    for sort, other in (("created", "changed"), ("changed", "created")):
        cursor = (await page(alice, kind, sort=sort, limit=1))["pagination"]["cursor"]
        answer = await alice.client.get(f"/v1/{kind}", params={"sort": other, "cursor": cursor})
        assert (answer.status_code, answer.json()["error"]["details"][0]["field"]) == (400, "cursor")
    assert (await alice.client.get(f"/v1/{kind}", params={"sort": "title"})).status_code == 400


AFTER = (datetime.now(UTC), uuid.uuid4())
STATEMENTS = {
    "documents": (documents, (None, *AFTER, [], 3, None, None, uuid.uuid4())),
    "prompts": (prompts, (None, *AFTER, [], False, 3, None, uuid.uuid4())),
    "collections": (collections, (["document"], uuid.uuid4(), None, *AFTER, [], None, 3)),
}


@proves("LIST-ORDER")
@pytest.mark.parametrize("sort", Sort)
@pytest.mark.parametrize("kind", KINDS)
async def test_each_order_has_an_index_that_gives_the_rows_as_they_are_wanted(kind, sort, make, alice, database):
    await made(make, alice, kind, 3)
    queries, values = STATEMENTS[kind]
    async with database.snapshot(alice.workspace_id) as tx:
        await tx.execute("SET LOCAL enable_seqscan = off")  # of three rows no index would be worth it
        rows = await tx.fetch(f"EXPLAIN {queries._LISTS[sort]}", alice.workspace_id, *values)
    plan = "\n".join(row[0] for row in rows)
    assert f"using {kind}_workspace_id_{sort.column}_id_idx" in plan, plan
    assert "Sort" not in plan


@proves("DASH-ORDER")
@pytest.mark.parametrize("kind", KINDS)
async def test_the_dashboard_orders_by_a_link_and_says_when_something_was_changed(kind, service, make, alice, sql):
    person, here = await signed_in(service, make, alice), f"/dashboard/{kind}"
    first, second = await made(make, alice, kind, 2)
    await change(alice, kind, first)
    await sql.execute(f"UPDATE {kind} SET created_at = '2024-02-03' WHERE id = $1", uuid.UUID(first))

    async def shown(query=""):
        answer = await person.get(f"{here}{query}")
        return answer, re.findall(rf'class="item-title" href="{here}/([^"]+)"', answer.text)

    answer, ids = await shown("?tag=changed")
    assert ids == [first]
    assert re.search(r"created\s*<time[^>]*>3 Feb 2024</time>\s*·\s*changed\s*<time", answer.text)
    assert 'href="?tag=changed&amp;sort=changed"' in answer.text
    answer, ids = await shown()
    assert ids == [second, first]
    assert '<a href="?" aria-current="true">Newest first</a>' in answer.text
    answer, ids = await shown("?sort=changed")
    assert ids == [first, second]
    assert '<a href="?sort=changed" aria-current="true">Last changed first</a>' in answer.text
    assert '<input type="hidden" name="sort" value="changed">' in answer.text  # who narrows it keeps the order
    assert hidden(answer, f"{here}/bulk")["back"] == "sort=changed"


@proves("DASH-ORDER")
@pytest.mark.parametrize("kind", KINDS)
async def test_the_next_page_of_an_ordered_list_goes_on_in_its_order(kind, service, make, alice, monkeypatch):
    person, here = await signed_in(service, make, alice), f"/dashboard/{kind}"
    first, second = await made(make, alice, kind, 2)
    await change(alice, kind, first)
    monkeypatch.setattr(f"app.features.{kind}.pages.PAGE_SIZE", 1)
    answer = await person.get(f"{here}?sort=changed")
    (link,) = re.findall(r'rel="next" href="([^"]+)"', answer.text)
    assert f"{here}/{second}" in (await person.get(link.replace("&amp;", "&"))).text
