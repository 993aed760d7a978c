"""Prompts as they were."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.contract.requirements import proves
from tests.edge.mcp.wire import MODERN_ERA, text_of


async def history(user, make):
    """Three revisions: the text, then title and tags, then the text again."""
    made = await make.prompt(user.client, title="Old", description="first", content="Say ${a}.", tags=["x"])
    url = f"/v1/prompts/{made['id']}"
    for change in (
        {"title": "New", "tags": ["y"], "variables": [{"name": "a", "type": "integer"}], "parameters": {"t": 1}},
        {"content": "Say ${a} to ${b}.", "isArchived": True},
    ):
        assert (await user.client.patch(url, json=change)).status_code == 200
    return url


async def at(client, url, value):
    return await client.get(url, params={"asOf": value})


@proves("PRM-3-AS-OF")
async def test_a_revision_reads_as_it_was(alice, make):
    url = await history(alice, make)
    first, second, third = [(await at(alice.client, url, number)).json()["data"] for number in (1, 2, 3)]
    assert (first["title"], first["tags"], first["content"], first["revision"]) == ("Old", ["x"], "Say ${a}.", 1)
    assert (first["variables"], first["parameters"]) == ([{"name": "a", "type": "string"}], {})
    assert (second["title"], second["tags"], second["content"]) == ("New", ["y"], "Say ${a}.")
    assert (second["variables"], second["parameters"]) == ([{"name": "a", "type": "integer"}], {"t": 1})
    assert [(one["currentVersion"], one["version"], one["isArchived"]) for one in (first, second, third)] == [
        (1, 1, False),
        (1, 1, False),
        (2, 2, True),
    ]
    assert third == (await alice.client.get(url)).json()["data"]
    assert (await at(alice.client, url, 1)).headers["etag"] == f'"r1-{first["contentHash"][:16]}"'
    assert len({one["contentHash"] for one in (first, second, third)}) == 3


@proves("PRM-3-AS-OF")
async def test_a_time_reads_the_last_revision_by_then(alice, make):
    url = await history(alice, make)
    created = (await at(alice.client, url, 1)).json()["data"]["lastChangedAt"]  # cut to the millisecond
    assert (await at(alice.client, url, created)).json()["data"]["revision"] == 1
    later = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    assert (await at(alice.client, url, later)).json()["data"]["revision"] == 3


@proves("PRM-3-AS-OF")
@pytest.mark.parametrize("value", [4, "2001-01-01T00:00:00Z"])
async def test_what_never_was_is_404(alice, bob, make, value):
    url = await history(alice, make)
    messages = [(await at(user.client, url, value)).json()["error"]["message"] for user in (alice, bob)]
    assert [message.split()[0] for message in messages] == ["Revision", "Prompt"]


async def test_what_is_no_point_in_time_is_400_and_so_is_a_label_beside_one(alice, make):
    url = await history(alice, make)
    for query in ({"asOf": "now"}, {"asOf": "1", "label": "production"}):
        answer = await alice.client.get(url, params=query)
        assert (answer.status_code, "asOf" in answer.json()["error"]["message"]) == (400, True)


@proves("PRM-3-AS-OF")
async def test_the_tool_reads_an_earlier_revision(alice, make):
    url = await history(alice, make)
    arguments = {"promptId": url.rpartition("/")[2], "asOf": 1}
    result = await MODERN_ERA.call(alice.client, "read_prompt", arguments)
    assert result["structuredContent"] == (await at(alice.client, url, 1)).json()
    assert "Say ${a}." in text_of(result)


@proves("PRM-3-AS-OF")
async def test_publishing_is_a_revision_of_its_own(alice, make):
    url = await history(alice, make)
    body = {"itemType": "prompt", "itemId": url.rpartition("/")[2]}
    assert (await (await make.browser(alice)).post("/v1/links", json=body)).status_code == 201
    published = [(await at(alice.client, url, number)).json()["data"]["isPublic"] for number in (3, 4)]
    assert published == [False, True]


@proves("PRM-3-AS-OF")
async def test_the_past_goes_with_a_purged_prompt(alice, make, sql):
    url = await history(alice, make)
    prompt_id = url.rpartition("/")[2]
    await alice.client.delete(url)
    assert (await at(alice.client, url, 1)).status_code == 404
    assert (await alice.client.delete(f"/v1/trash/{prompt_id}")).status_code == 200
    assert await sql.fetchval("SELECT count(*) FROM prompt_revisions WHERE prompt_id = $1::uuid", prompt_id) == 0
