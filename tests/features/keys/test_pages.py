"""Keys that are restricted to collections, made in the dashboard."""

from __future__ import annotations

import re

from tests.contract.requirements import proves
from tests.support.visitor import signed_in

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
