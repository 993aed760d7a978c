"""The audit trail: by whom, with what, what and when; for owners alone."""

from __future__ import annotations

from tests.contract.requirements import proves
from tests.support.visitor import signed_in


@proves("AUDIT-LIST")
async def test_the_trail_names_who_did_what_with_which_key_or_browser(service, make, alice):
    document = await make.document(alice.client, title="Watched")
    agent = {"X-Agent-Id": "night shift"}
    await alice.client.patch(f"/v1/documents/{document['id']}", json={"content": "two"}, headers=agent)
    person = await signed_in(service, make, alice)
    assert (
        await person.fill(f"/dashboard/documents/{document['id']}", f"/dashboard/documents/{document['id']}/delete")
    ).status_code == 303
    lines = (await alice.client.get("/v1/audit")).json()["data"]
    assert [line["topic"] for line in lines[:3]] == ["document.deleted", "document.changed", "document.created"]
    assert [line["credential"] for line in lines[:3]] == ["session", "api_key", "api_key"]
    assert [line["client"] for line in lines[1:3]] == ["test", "test"]
    assert [line["agent"] for line in lines[:3]] == [None, "night shift", None]
    assert {line["userId"] for line in lines[:3]} == {str(alice.id)}
    assert {line["title"] for line in lines[:3]} == {"Watched"}
    assert [line["revision"] for line in lines[1:3]] == [2, 1]
    assert all(line["requestId"] for line in lines[:3])


@proves("AUDIT-LIST")
async def test_the_trail_is_paged_without_a_gap_and_narrowed(make, alice):
    made = [await make.document(alice.client) for _ in range(7)]
    met, cursor = [], None
    while True:
        page = (
            await alice.client.get("/v1/audit", params={"limit": 3} | ({"cursor": cursor} if cursor else {}))
        ).json()
        met += [line["object"] for line in page["data"]]
        cursor = page["pagination"]["cursor"]
        if cursor is None:
            break
    assert met[:7] == [one["id"] for one in reversed(made)]
    assert len(set(met)) == len(met)
    one = (await alice.client.get("/v1/audit", params={"object": made[2]["id"]})).json()["data"]
    assert [line["object"] for line in one] == [made[2]["id"]]
    assert (await alice.client.get("/v1/audit", params={"user": made[2]["id"]})).json()["data"] == []


@proves("AUDIT-OWNER")
async def test_only_owners_read_the_trail_and_only_of_their_workspace(make, alice):
    member, viewer, other = (
        await make.member(alice.workspace_id, "member"),
        await make.member(alice.workspace_id, "viewer"),
        await make.user(),
    )
    document = await make.document(member.client)
    for user in (member, viewer):
        answer = await user.client.get("/v1/audit")
        assert (answer.status_code, answer.json()["error"]["reason"]) == (403, "INSUFFICIENT_SCOPE")
    assert (await other.client.get("/v1/audit", params={"object": document["id"]})).json()["data"] == []
    lines = (await alice.client.get("/v1/audit")).json()["data"]
    assert lines[0]["userId"] == str(member.id)
    collection = await make.collection(alice.client)
    restricted = await make.restricted(alice, collection["id"])
    assert (await restricted.client.get("/v1/audit")).status_code == 403


@proves("AUDIT-LIST")
async def test_keys_and_members_leave_lines_too(service, make, alice):
    person = await signed_in(service, make, alice)
    fields = {"name": "Robot", "days": "", "scope.documents.read": "on"}
    assert (await person.fill("/dashboard/keys", **fields)).status_code == 200
    line = (await alice.client.get("/v1/audit")).json()["data"][0]
    assert (line["topic"], line["userId"], line["operation"]) == ("key.created", str(alice.id), "keys.create")
    assert (line["credential"], line["object"]) == ("session", (await _newest_key(make, alice))["publicId"])
    assert (await person.fill("/dashboard/members", "/dashboard/invites", email="a@b.test", role="member")).is_success
    invited = (await alice.client.get("/v1/audit")).json()["data"][0]
    assert (invited["topic"], invited["operation"], invited["credential"]) == (
        "invite.created",
        "invites.create",
        "session",
    )
    assert invited["grantId"] == line["grantId"]
    assert invited["requestId"] != line["requestId"]
    assert line["requestId"]
    agent = await make.browser(alice)
    agent.headers["x-agent-id"] = "night shift"
    made = await agent.post("/v1/keys", json={"name": "By a program", "scopes": ["documents.read"]})
    told = (await alice.client.get("/v1/audit")).json()["data"][0]
    assert (told["agent"], told["requestId"]) == ("night shift", made.headers["x-request-id"])
    assert "key.created" in (await person.get("/dashboard/audit")).text


async def _newest_key(make, user):
    return (await (await make.browser(user)).get("/v1/keys")).json()["data"][0]


async def test_the_page_is_refused_to_members_in_words(service, make, alice):
    member = await make.member(alice.workspace_id, "member")
    cookie = await make.session(member)
    person = await signed_in(service, make, member)
    person.client.cookies.set("session", cookie)
    answer = await person.get("/dashboard/audit")
    assert answer.status_code == 403
    assert "Only an owner" in answer.text
