"""Sample data: a first look, and back."""

from __future__ import annotations

import re

from tests.contract.requirements import proves
from tests.support.visitor import hidden, signed_in

SAMPLES = "/dashboard/samples"


@proves("DASH-SAMPLES")
async def test_sample_data_is_added_once_and_taken_back_without_what_was_changed(service, make, alice):
    person = await signed_in(service, make, alice)
    shown = await person.get("/dashboard")
    assert "Three steps" in shown.text
    fields = hidden(shown, SAMPLES)
    first, twin = [await person.send(SAMPLES, fields) for _ in range(2)]
    assert first.status_code == 303
    assert first.headers["location"] == twin.headers["location"]
    members = (await alice.client.get(f"/v1/collections/{first.headers['location'].rpartition('/')[2]}")).json()["data"]
    assert members["itemCount"] == 5
    documents = (await alice.client.get("/v1/documents?tags=sample-data")).json()["data"]
    assert sorted(one["currentVersion"] for one in documents) == [1, 1, 2]
    mine = await make.document(alice.client, title="Mine", tags=["own"])
    review = await person.get(SAMPLES)
    await alice.client.patch(f"/v1/documents/{documents[0]['id']}", json={"content": "mine now"})
    ticked = dict(re.findall(r'name="(item\.[^"]+)" value="(\d+)" checked', review.text))
    assert len(ticked) == 6
    assert (await person.send(f"{SAMPLES}/reset", hidden(review, f"{SAMPLES}/reset") | ticked)).status_code == 303
    left = (await alice.client.get("/v1/documents")).json()["data"]
    assert {one["id"] for one in left} == {mine["id"], documents[0]["id"]}
    assert (await alice.client.get("/v1/prompts")).json()["data"] == []
    assert (await alice.client.get("/v1/collections")).json()["data"] == []
    assert len((await alice.client.get("/v1/trash")).json()["data"]) == 5


async def test_the_overview_shows_the_newest_and_works_without_a_plan(service, make, alice):
    person = await signed_in(service, make, alice)
    await make.document(alice.client, title="Newest of all")
    assert "Newest of all" in (await person.get("/dashboard")).text
    poor = await make.user()
    await make.plan(poor, None)
    visitor = await signed_in(service, make, poor)
    shown = await visitor.get("/dashboard")
    assert shown.status_code == 200
    assert "no active plan" in shown.text
    assert (await visitor.get("/dashboard/documents")).status_code == 402
