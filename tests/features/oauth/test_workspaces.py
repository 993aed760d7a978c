"""What a token may do with workspaces: with every scope, and in the one that was consented to."""

from __future__ import annotations

import re

import pytest

from tests.contract.requirements import proves
from tests.features.oauth.flow import ISSUER

REST = {"resource": f"{ISSUER}/v1"}
MANAGES = "invite people"
READS = "prompts.read documents.read workspace.read"


@pytest.fixture
def membership(people, signed_in, sql):
    """Another's workspace that the person is a member of."""

    async def join(person, role):
        other = await signed_in(await people.user())
        made = await other.http.post(
            "/v1/workspaces", json={"name": "Theirs"}, headers={"sec-fetch-site": "same-origin"}
        )
        workspace = made.json()["data"]["id"]
        statement = "INSERT INTO memberships (workspace_id, user_id, role) VALUES ($1, $2, $3)"
        await sql.execute(statement, workspace, person.id, role)
        return workspace, other.id

    return join


@proves("WS-TOKEN")
async def test_a_viewer_who_lets_an_app_read_does_not_let_it_manage(flow, bearer, person, membership):
    workspace, _ = await membership(person, "viewer")
    fields = {"workspace": workspace}
    reading = bearer((await flow.tokens(**REST, scope=READS, fields=fields))["access_token"])
    assert (await reading.get("/v1/documents")).status_code == 200
    refused = [
        await reading.get("/v1/workspaces"),
        await reading.post("/v1/workspaces", json={"name": "Mine"}),
        await reading.post(f"/v1/workspaces/{person.workspace_id}/invites", json={"email": "x@example.test"}),
    ]
    assert [answer.status_code for answer in refused] == [403] * 3
    for answer in refused:
        error = answer.json()["error"]
        assert (error["reason"], "every scope" in error["message"]) == ("INSUFFICIENT_SCOPE", True)
        assert error["details"]["scopes"] == ["prompts.write", "documents.write", "workspace.write"]
        challenge = answer.headers["www-authenticate"]
        assert 'error="insufficient_scope"' in challenge
        asked = re.search(r'scope="([^"]*)"', challenge)[1]
    # What the challenge asks for is enough.
    wider = bearer((await flow.tokens(**REST, scope=asked, fields=fields))["access_token"])
    assert (await wider.get("/v1/workspaces")).status_code == 200
    in_browsers = await reading.get("/v1/keys")
    assert (in_browsers.status_code, "www-authenticate" in in_browsers.headers) == (403, False)


@proves("WS-TOKEN")
async def test_a_token_with_every_scope_manages_the_workspace_of_its_consent_alone(flow, bearer, person, membership):
    workspace, other = await membership(person, "owner")
    tokens = await flow.tokens(**REST, fields={"workspace": workspace})
    client = bearer(tokens["access_token"])
    listed = (await client.get("/v1/workspaces")).json()["data"]
    assert [(item["id"], item["role"], item["current"]) for item in listed] == [(workspace, "owner", True)]
    mine, theirs = f"/v1/workspaces/{workspace}", f"/v1/workspaces/{person.workspace_id}"
    calls = [
        ("PATCH", "", {"name": "Renamed"}, 200),
        ("GET", "/members", None, 200),
        ("PATCH", f"/members/{other}", {"role": "member"}, 204),
        ("GET", "/invites", None, 200),
        ("POST", "/invites", {"email": "guest@example.test"}, 201),
        ("DELETE", f"/members/{other}", None, 204),
    ]
    for method, path, body, status in calls:
        foreign = await client.request(method, theirs + path, json=body)
        assert foreign.status_code == 404, (method, path, foreign.text)
        assert foreign.json()["error"]["message"].startswith("Workspace not found")
        assert (await client.request(method, mine + path, json=body)).status_code == status, (method, path)
    (invite,) = (await person.http.get(f"{mine}/invites")).json()["data"]
    assert (await client.delete(f"{theirs}/invites/{invite['id']}")).status_code == 404
    assert (await client.delete(f"{mine}/invites/{invite['id']}")).status_code == 204


@proves("WS-TOKEN")
async def test_the_page_says_what_every_scope_together_means(flow):
    assert MANAGES in (await flow.open(**REST)).text
    assert MANAGES not in (await flow.open(**REST, scope="documents.write")).text
    assert MANAGES not in (await flow.open()).text
