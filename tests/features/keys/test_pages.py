"""Keys that are restricted to collections, made in the dashboard."""

from __future__ import annotations

import re

from tests.contract.requirements import proves
from tests.support.visitor import hidden, signed_in

KEYS = "/dashboard/keys"


@proves("DASH-KEYS")
async def test_a_key_for_one_collection_sees_nothing_else(service, make, alice):
    inside, outside = await make.document(alice.client), await make.document(alice.client)
    collection = await make.collection(alice.client, name="Only this", items=[inside["id"]])
    person = await signed_in(service, make, alice)
    fields = {"name": "Narrow", "days": "", "scope.documents.read": "on", f"collection.{collection['id']}": "on"}
    answer = await person.fill(KEYS, **fields)
    assert answer.status_code == 200
    key = re.search(r'value="(gm_[^"]+)"', answer.text)[1]
    assert "Only this" in re.search(r"only in .*?</span>", answer.text)[0]
    client = make.client(key)
    assert (await client.get(f"/v1/documents/{inside['id']}")).status_code == 200
    assert (await client.get(f"/v1/documents/{outside['id']}")).status_code == 404


async def test_a_collection_that_is_not_there_makes_no_key(service, make, alice):
    person = await signed_in(service, make, alice)
    other = await make.collection((await make.user()).client)
    fields = {"name": "Narrow", "days": "", "scope.documents.read": "on", f"collection.{other['id']}": "on"}
    assert (await person.fill(KEYS, **fields)).status_code == 400


@proves("PERSON-PLAN")
async def test_without_a_plan_the_pages_say_why_nothing_can_be_made(service, make, alice):
    document = await make.document(alice.client)
    person = await signed_in(service, make, alice)
    before = {page: await person.get(page) for page in (KEYS, "/dashboard/workspaces", "/dashboard/members")}
    share = f"/dashboard/share/document/{document['id']}"
    await make.plan(alice, None)
    person = await signed_in(service, make, alice)
    for page, shown in before.items():
        after = await person.get(page)
        assert after.status_code == 200
        assert "no active plan" in after.text
        assert "no active plan" not in shown.text
    assert "Create key" not in (await person.get(KEYS)).text
    refused = await person.send(share, hidden(await person.get(KEYS), "/sign-out") | {"days": ""})
    assert (refused.status_code, "no active plan" in refused.text, "/v1/" in refused.text) == (402, True, False)
