"""Labels: names that point at a version and move."""

from __future__ import annotations

import asyncio
from uuid import UUID, uuid4

import pytest

from tests.contract.requirements import proves


def label_url(prompt, label="production"):
    return f"/v1/prompts/{prompt['id']}/labels/{label}"


async def two_versions(client, make):
    """A prompt with the texts `one` and `two`, and the ids of both versions."""
    made = await make.prompt(client, content="one")
    changed = await client.patch(f"/v1/prompts/{made['id']}", json={"content": "two"})
    return made, made["versionId"], changed.json()["data"]["versionId"]


async def labelled(client, prompt, label="production"):
    answer = await client.get(f"/v1/prompts/{prompt['id']}", params={"label": label})
    return answer.json()["data"]["content"] if answer.status_code == 200 else answer.status_code


@proves("PRM-LABELS")
async def test_a_label_chooses_the_version_that_a_read_gives_and_moves(alice, make):
    made, first, second = await two_versions(alice.client, make)
    answer = await alice.client.put(label_url(made), json={"versionId": first})
    data = answer.json()["data"]
    assert (answer.status_code, data["label"], data["version"], data["versionId"]) == (200, "production", 1, first)
    assert data["userName"] == alice.email.partition("@")[0]
    assert data["movedAt"].endswith("Z")
    assert await labelled(alice.client, made) == "one"
    moved = await alice.client.put(label_url(made), json={"versionId": second})
    assert moved.json()["data"]["version"] == 2
    assert await labelled(alice.client, made) == "two"
    assert (await alice.client.get(f"/v1/prompts/{made['id']}")).json()["data"]["content"] == "two"


@proves("PRM-LABELS")
async def test_a_labelled_read_says_which_version_it_is_and_has_no_tag(alice, make):
    made, first, _ = await two_versions(alice.client, make)
    await alice.client.put(label_url(made), json={"versionId": first})
    answer = await alice.client.get(
        f"/v1/prompts/{made['id']}", params={"label": "production"}, headers={"if-none-match": "*"}
    )
    data = answer.json()["data"]
    assert (data["version"], data["versionId"], data["currentVersion"], data["revision"]) == (1, first, 2, 2)
    assert data["label"] == "production"
    assert (answer.status_code, "etag" in answer.headers) == (200, False)


@proves("PRM-LABELS")
async def test_a_removed_label_is_404_at_once(alice, make):
    made, first, _ = await two_versions(alice.client, make)
    await alice.client.put(label_url(made), json={"versionId": first})
    gone = await alice.client.delete(label_url(made))
    assert (gone.status_code, gone.content) == (204, b"")
    assert await labelled(alice.client, made) == 404
    assert (await alice.client.delete(label_url(made))).status_code == 404
    assert len((await alice.client.get(f"/v1/prompts/{made['id']}/versions")).json()["data"]) == 2


@proves("PRM-LABELS")
async def test_labels_are_listed_by_name_and_with_their_versions(alice, make):
    made, first, second = await two_versions(alice.client, make)
    for label, version in (("staging", second), ("production", first), ("Beta.1-x_y", first)):
        assert (await alice.client.put(label_url(made, label), json={"versionId": version})).status_code == 200
    listed = (await alice.client.get(f"/v1/prompts/{made['id']}/labels")).json()
    assert sorted((label["label"], label["version"]) for label in listed["data"]) == [
        ("Beta.1-x_y", 1),
        ("production", 1),
        ("staging", 2),
    ]
    versions = (await alice.client.get(f"/v1/prompts/{made['id']}/versions")).json()["data"]
    assert [sorted(version["labels"]) for version in versions] == [["staging"], ["Beta.1-x_y", "production"]]


@proves("PRM-LABELS")
async def test_a_label_keeps_its_version_when_the_text_changes_and_the_revision_when_it_moves(alice, make):
    made, first, second = await two_versions(alice.client, make)
    await alice.client.put(label_url(made), json={"versionId": second})
    before = (await alice.client.get(f"/v1/prompts/{made['id']}")).headers["etag"]
    await alice.client.put(label_url(made), json={"versionId": first})
    assert (await alice.client.get(f"/v1/prompts/{made['id']}")).headers["etag"] == before
    await alice.client.patch(f"/v1/prompts/{made['id']}", json={"content": "three"})
    assert await labelled(alice.client, made) == "one"


@pytest.mark.parametrize(
    "label", ["v2", "V2", "2", "2.1", "v-2", "version2", "latest", "Current", "a b", ".a", "é", "-"]
)
@proves("PRM-LABELS")
async def test_a_label_that_looks_like_a_version_is_refused(alice, make, label):
    made = await make.prompt(alice.client)
    answer = await alice.client.put(label_url(made, label), json={"versionId": made["versionId"]})
    assert (answer.status_code, answer.json()["error"]["details"][0]["field"]) == (400, "label")


async def test_a_version_of_another_prompt_cannot_be_labelled(alice, bob, make):
    made, other = await make.prompt(alice.client), await make.prompt(alice.client)
    foreign = await make.prompt(bob.client)
    for version, status in (
        (other["versionId"], 404),
        (foreign["versionId"], 404),
        (str(uuid4()), 404),
        ("no-id", 400),
        (None, 400),
    ):
        assert (await alice.client.put(label_url(made), json={"versionId": version})).status_code == status
    assert (await alice.client.get(f"/v1/prompts/{made['id']}/labels")).json()["data"] == []


async def test_a_prompt_has_a_hundred_labels_at_most(alice, make, sql):
    made = await make.prompt(alice.client)
    version = {"versionId": made["versionId"]}
    await sql.execute(
        "INSERT INTO prompt_labels SELECT $1, $2, 'kept-' || n, 1, 'n', now() FROM generate_series(1, 97) AS n",
        alice.workspace_id,
        UUID(made["id"]),
    )
    answers = await asyncio.gather(*[alice.client.put(label_url(made, f"l{n}-x"), json=version) for n in range(5)])
    assert sorted(answer.status_code for answer in answers) == [200] * 3 + [400] * 2
    listed = (await alice.client.get(f"/v1/prompts/{made['id']}/labels")).json()
    assert (len(listed["data"]), listed["pagination"]) == (100, {"cursor": None, "hasMore": False})
    assert (await alice.client.put(label_url(made, listed["data"][0]["label"]), json=version)).status_code == 200


async def test_one_label_moved_by_many_at_once_points_at_one_version(alice, make):
    made, first, second = await two_versions(alice.client, make)
    answers = await asyncio.gather(
        *[alice.client.put(label_url(made), json={"versionId": (first, second)[n % 2]}) for n in range(8)]
    )
    assert {answer.status_code for answer in answers} == {200}
    (label,) = (await alice.client.get(f"/v1/prompts/{made['id']}/labels")).json()["data"]
    assert label["versionId"] in {first, second}
    assert await labelled(alice.client, made) == {first: "one", second: "two"}[label["versionId"]]
