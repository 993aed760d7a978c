"""Workspaces: members, the last owner, invites, and switching."""

from __future__ import annotations

import asyncio
import re
import secrets
from datetime import UTC, datetime

import pytest
from pydantic import SecretStr

from app.features.accounts.service import is_address
from app.features.signin import service as signin
from app.kit import cursor
from tests.contract.requirements import proves
from tests.support.factories import Make
from tests.support.pages import pages_of
from tests.support.service import BASE_URL, serving
from tests.support.visitor import PASSWORD, Visitor, hidden, with_password


async def shared(client, name="Ours"):
    answer = await client.post("/v1/workspaces", json={"name": name})
    assert answer.status_code == 201, answer.text
    return answer.json()["data"]["id"]


async def invited(client, workspace, email, **more):
    answer = await client.post(f"/v1/workspaces/{workspace}/invites", json={"email": email} | more)
    assert answer.status_code == 201, answer.text
    return answer.json()["data"]["link"].removeprefix(BASE_URL)


async def joined(client, workspace, make, sql, role):
    user = await make.user()
    await sql.execute(
        "INSERT INTO memberships (workspace_id, user_id, role) VALUES ($1, $2, $3)", workspace, user.id, role
    )
    return user


async def test_a_new_workspace_has_its_maker_as_owner_and_stands_in_the_list(make, alice, bob):
    client = await make.browser(alice)
    workspace = await shared(client, "Team Ünïcode")
    listed = (await client.get("/v1/workspaces")).json()["data"]
    assert [(item["kind"], item["role"], item["current"]) for item in listed] == [
        ("shared", "owner", False),
        ("personal", "owner", True),
    ]
    renamed = await client.patch(f"/v1/workspaces/{workspace}", json={"name": "Renamed"})
    assert renamed.json()["data"]["name"] == "Renamed"
    other = (await (await make.browser(bob)).get("/v1/workspaces")).text
    assert workspace not in other


async def test_switching_changes_what_the_browser_sees_at_once(make, alice):
    client = await make.browser(alice)
    workspace = await shared(client)
    assert (await client.post(f"/v1/workspaces/{workspace}:switch", json={})).status_code == 200
    listed = (await client.get("/v1/workspaces")).json()["data"]
    assert [item["id"] for item in listed if item["current"]] == [workspace]
    made = (await client.post("/v1/keys", json={"name": "k", "scopes": ["documents.write"]})).json()["data"]["key"]
    document = await make.document(make.client(made))
    assert (await alice.client.get(f"/v1/documents/{document['id']}")).status_code == 404


@proves("WS-LAST-OWNER")
async def test_the_last_owner_can_neither_leave_nor_be_demoted(make, alice, sql):
    client = await make.browser(alice)
    workspace = await shared(client)
    path = f"/v1/workspaces/{workspace}/members/{alice.id}"
    for answer in (await client.patch(path, json={"role": "member"}), await client.delete(path)):
        assert (answer.status_code, answer.json()["error"]["reason"]) == (409, "LAST_OWNER")
    assert (await client.patch(path, json={"role": "owner"})).status_code == 204
    second = await joined(client, workspace, make, sql, "owner")
    assert (await client.delete(path)).status_code == 204
    assert (await client.get(f"/v1/workspaces/{workspace}/members")).status_code == 404
    assert await sql.fetch("SELECT user_id FROM memberships WHERE workspace_id = $1", workspace) == [(second.id,)]


@proves("WS-LAST-OWNER")
async def test_of_two_owners_who_demote_or_remove_each_other_at_once_one_stays(make, alice, bob, sql):
    one, two = await make.browser(alice), await make.browser(bob)
    for number in range(12):
        workspace = await shared(one)
        await sql.execute(
            "INSERT INTO memberships (workspace_id, user_id, role) VALUES ($1, $2, 'owner')", workspace, bob.id
        )
        path = f"/v1/workspaces/{workspace}/members"
        if number % 2:
            tries = [one.patch(f"{path}/{bob.id}", json={"role": "viewer"}), two.delete(f"{path}/{alice.id}")]
        else:
            tries = [one.delete(f"{path}/{alice.id}"), two.delete(f"{path}/{bob.id}")]
        answers = sorted(answer.status_code for answer in await asyncio.gather(*tries))
        assert answers[0] == 204
        assert answers[1] in (403, 404, 409)
        owners = "SELECT count(*) FROM memberships WHERE workspace_id = $1 AND role = 'owner'"
        assert await sql.fetchval(owners, workspace) == 1


async def test_a_personal_workspace_keeps_its_person(make, alice, sql):
    second = await joined(None, alice.workspace_id, make, sql, "owner")
    client = await make.browser(second)
    path = f"/v1/workspaces/{alice.workspace_id}/members/{alice.id}"
    assert (await client.delete(path)).json()["error"]["reason"] == "LAST_OWNER"
    assert (await client.patch(path, json={"role": "viewer"})).json()["error"]["reason"] == "LAST_OWNER"


async def test_members_and_viewers_manage_nobody_and_strangers_see_nothing(make, alice, bob, sql):
    workspace = await shared(await make.browser(alice))
    for role in ("member", "viewer"):
        client = await make.browser(await joined(None, workspace, make, sql, role))
        base = f"/v1/workspaces/{workspace}"
        assert (await client.get(f"{base}/members")).status_code == 200
        refused = [
            await client.patch(base, json={"name": "Mine"}),
            await client.get(f"{base}/invites"),
            await client.post(f"{base}/invites", json={"email": "x@example.test"}),
            await client.patch(f"{base}/members/{alice.id}", json={"role": "viewer"}),
            await client.delete(f"{base}/members/{alice.id}"),
        ]
        assert [answer.status_code for answer in refused] == [403] * 5
    stranger = await make.browser(bob)
    assert (await stranger.get(f"/v1/workspaces/{workspace}/members")).status_code == 404


async def test_a_member_who_is_removed_loses_keys_and_view_within_seconds(make, alice, sql):
    client = await make.browser(alice)
    workspace = await shared(client)
    member = await make.member(workspace, "member")
    assert (await member.client.get("/v1/documents")).status_code == 200
    browser = await make.browser(member)
    assert (await browser.get("/v1/keys")).status_code == 200
    assert (await client.delete(f"/v1/workspaces/{workspace}/members/{member.id}")).status_code == 204
    assert (await member.client.get("/v1/documents")).status_code == 401
    listed = (await browser.get("/v1/workspaces")).json()["data"]  # the session goes on in the personal one
    assert [item["kind"] for item in listed] == ["personal"]
    await sql.execute(
        "INSERT INTO memberships (workspace_id, user_id, role) VALUES ($1, $2, 'member')", workspace, member.id
    )
    assert (await member.client.get("/v1/documents")).status_code == 401  # coming back does not revive the key


async def test_a_changed_role_holds_at_once(make, alice):
    client = await make.browser(alice)
    workspace = await shared(client)
    member = await make.member(workspace, "member")
    assert (await make.document(member.client))["id"]
    path = f"/v1/workspaces/{workspace}/members/{member.id}"
    assert (await client.patch(path, json={"role": "viewer"})).status_code == 204
    assert (await member.client.post("/v1/documents", json={"title": "T", "content": "c"})).status_code == 403


@proves("WS-INVITE")
async def test_an_invite_joins_whom_it_is_for_once(service, make, alice, bob, sql):
    client = await make.browser(alice)
    workspace = await shared(client, "The team")
    link = await invited(client, workspace, bob.email.upper(), role="viewer")
    stranger = await with_password(service, await make.user())
    shown = await stranger.get(link)
    assert "The team" in shown.text
    assert "Join the workspace" not in shown.text
    browser = await with_password(service, bob)
    assert (await browser.send(link, {"csrf": "0" * 64})).status_code == 403  # no page of ours sent this
    answer = await browser.fill(link)
    assert (answer.status_code, answer.headers["location"]) == (303, "/dashboard")
    assert "(viewer)" in (await browser.get("/dashboard")).text
    assert (await browser.get(link)).status_code == 404
    rows = await sql.fetch("SELECT role FROM memberships WHERE workspace_id = $1 AND user_id = $2", workspace, bob.id)
    assert rows == [("viewer",)]


@proves("WS-INVITE-MEMBER")
async def test_who_is_a_member_already_is_not_invited(service, make, alice, sql):
    client = await make.browser(alice)
    workspace = await shared(client)
    member = await joined(client, workspace, make, sql, "viewer")
    answer = await client.post(f"/v1/workspaces/{workspace}/invites", json={"email": member.email.upper()})
    error = answer.json()["error"]
    assert (answer.status_code, error["reason"]) == (409, "ALREADY_MEMBER")
    assert error["details"] == {"userId": str(member.id), "role": "viewer"}
    assert "change the member's role" in error["message"]
    assert (await client.get(f"/v1/workspaces/{workspace}/invites")).json()["data"] == []
    assert await sql.fetchval("SELECT count(*) FROM mail_outbox WHERE recipient = $1", member.email.upper()) == 0
    await invited(client, await shared(client), member.email)  # of another workspace they are none
    browser = await with_password(service, alice)
    shown = await browser.fill("/dashboard/members", "/dashboard/invites", email=alice.email, role="viewer")
    assert shown.status_code == 409
    assert "is a member of the workspace already, as owner" in shown.text


@proves("WS-INVITE")
async def test_an_invite_ends_by_time_by_taking_back_and_with_its_owner(service, make, alice, bob, sql):
    client = await make.browser(alice)
    workspace = await shared(client)
    browser = await with_password(service, bob)
    late = await invited(client, workspace, bob.email)
    await sql.execute("UPDATE one_time_links SET expires_at = now() WHERE workspace_id = $1", workspace)
    assert (await browser.get(late)).status_code == 404
    taken_back = await invited(client, workspace, bob.email)
    (invite,) = (await client.get(f"/v1/workspaces/{workspace}/invites")).json()["data"]
    assert (await client.delete(f"/v1/workspaces/{workspace}/invites/{invite['id']}")).status_code == 204
    assert (await browser.get(taken_back)).status_code == 404
    orphan = await invited(client, workspace, bob.email)
    await sql.execute("UPDATE memberships SET role = 'member' WHERE workspace_id = $1", workspace)
    assert (await browser.get(orphan)).status_code == 404


@proves("WS-INVITE")
async def test_of_many_acceptances_at_once_one_succeeds(service, make, alice, bob, sql):
    client = await make.browser(alice)
    link = await invited(client, await shared(client), bob.email)
    browsers = [await with_password(service, bob)]
    for _ in range(3):
        browsers.append(Visitor(service))
        await browsers[-1].sign_in(bob.email)
    browsers = browsers[1:]  # the first one's session ended with nothing: passwords were set once
    forms = [hidden(await browser.get(link), link) for browser in browsers]
    answers = await asyncio.gather(*(browser.send(link, form) for browser, form in zip(browsers, forms, strict=True)))
    assert sorted(answer.status_code for answer in answers) == [303, 404, 404]


async def test_somebody_new_makes_an_account_by_an_invite_where_that_is_allowed(settings, service, make, alice):
    client = await make.browser(alice)
    email = f"{secrets.token_hex(6)}@example.test"
    link = await invited(client, await shared(client), email)
    closed = await Visitor(service).get(link)
    assert "Accounts are made by the administrator" in closed.text
    token = link.rpartition("/")[2]
    assert (await Visitor(service).fill(f"/sign-up/{token}", name="N", password=PASSWORD)).status_code == 410
    async with serving(settings.model_copy(update={"signup": "invite"})) as app:
        browser = Visitor(app)
        leads = await browser.get(link)
        assert leads.headers["location"] == f"/sign-up/{token}"
        made = await browser.fill(f"/sign-up/{token}", name="New", password=PASSWORD)
        assert (made.status_code, made.headers["location"]) == (303, link)
        assert (await browser.fill(link)).status_code == 303
        assert "(member)" in (await browser.get("/dashboard")).text
        assert app.state.gate.get(signin.SignIn).signup == "invite"


@proves("SIGN-EQUAL")
@pytest.mark.parametrize(
    ("signup", "smtp", "said"),
    [
        ("closed", "", ["only written to `ctx admin outbox`", "`ctx admin create-user --email …`"]),
        ("closed", "smtp://127.0.0.1:9", ["is sent", "`ctx admin create-user --email …`"]),
        ("invite", "", ["only written to `ctx admin outbox`"]),
        ("open", "smtp://127.0.0.1:9", ["is sent"]),
    ],
)
async def test_who_invites_learns_what_the_invited_need_and_not_who_has_an_account(
    signup, smtp, said, settings, database
):
    changed = settings.model_copy(update={"signup": signup, "smtp_url": SecretStr(smtp)})
    async with serving(changed) as app:
        make = Make(app, database)
        alice, bob = await make.user(), await make.user()
        client = await make.browser(alice)
        path = f"/v1/workspaces/{await shared(client)}/invites"
        notices = set()
        for email in (bob.email, f"{secrets.token_hex(6)}@example.test"):
            notices.add((await client.post(path, json={"email": email})).json()["data"]["notice"])
        (notice,) = notices
        assert all(words in notice for words in said)
        assert ("create-user" in notice) == (signup == "closed")
        browser = await with_password(app, alice)
        shown = await browser.fill("/dashboard/members", "/dashboard/invites", email=bob.email, role="viewer")
        assert notice.replace("`", "") in shown.text


async def test_somebody_elses_personal_workspace_is_listed_with_its_owner(service, make, alice, sql):
    bob = await make.user()
    await sql.execute("UPDATE users SET name = 'Bob <b>' WHERE id = $1", bob.id)
    await sql.execute(
        "INSERT INTO memberships (workspace_id, user_id, role) VALUES ($1, $2, 'owner')", bob.workspace_id, alice.id
    )
    browser = await with_password(service, alice)
    listed = (await (await make.browser(alice)).get("/v1/workspaces")).json()["data"]
    owners = {item["id"]: item.get("owner") for item in listed}
    assert owners == {str(alice.workspace_id): None, str(bob.workspace_id): "Bob <b>"}
    assert "(of <bdi>Bob &lt;b&gt;</bdi>)" in (await browser.get("/dashboard/workspaces")).text
    assert "(of Bob &lt;b&gt;)</option>" in (await browser.get("/dashboard")).text
    await browser.fill("/dashboard/workspaces", "/dashboard/workspaces/switch", workspace=str(bob.workspace_id))
    assert "(of <bdi>Bob &lt;b&gt;</bdi>)</h1>" in (await browser.get("/dashboard")).text


async def test_the_pages_do_what_the_operations_do(service, make, alice):
    browser = await with_password(service, alice)
    made = await browser.fill("/dashboard/workspaces", name="By page")
    assert made.headers["location"] == "/dashboard/members"
    assert "By page" in (await browser.get("/dashboard")).text
    asked = await browser.fill("/dashboard/members", "/dashboard/invites", email="guest@example.test", role="viewer")
    assert "/invite/" in asked.text
    assert "guest@example.test" in (await browser.get("/dashboard/members")).text
    bad = await browser.fill("/dashboard/members", "/dashboard/invites", email="nobody", role="viewer")
    assert bad.status_code == 400
    renamed = await browser.fill("/dashboard/members", "/dashboard/workspaces/rename", name="<b>Bold</b>")
    assert renamed.status_code == 303
    shown = (await browser.get("/dashboard/members")).text
    assert "&lt;b&gt;Bold&lt;/b&gt;" in shown
    assert "<b>Bold" not in shown
    mine = f"/dashboard/members/{alice.id}"
    leaving = await browser.fill("/dashboard/members", mine, action="remove")
    assert leaving.status_code == 400
    assert "without an owner" in leaving.text


@proves("WS-PAGES")
async def test_workspaces_members_and_invites_come_page_by_page_and_the_pages_show_all(service, make, alice, sql):
    browser = await with_password(service, alice)
    client = await make.browser(alice)
    made = [str(alice.workspace_id), *[await shared(client, f"Number {number}") for number in range(4)]]
    assert [item["id"] for item in await pages_of(client, "/v1/workspaces", 2)] == made[::-1]
    here = made[-1]
    people = [alice.id, *[(await joined(client, here, make, sql, "member")).id for _ in range(4)]]
    members = await pages_of(client, f"/v1/workspaces/{here}/members", 2)
    assert [item["userId"] for item in members] == [str(user_id) for user_id in reversed(people)]
    for number in range(5):
        await invited(client, here, f"guest{number}@example.test")
    invites = await pages_of(client, f"/v1/workspaces/{here}/invites", 2)
    assert [item["email"] for item in invites] == [f"guest{number}@example.test" for number in reversed(range(5))]
    past = cursor.encode(datetime(2001, 1, 1, tzinfo=UTC), alice.id)
    empty = await client.get(f"/v1/workspaces/{here}/members", params={"cursor": past})
    assert (empty.status_code, empty.json()["data"]) == (200, [])
    await sql.execute("UPDATE browser_sessions SET workspace_id = $1 WHERE user_id = $2", here, alice.id)
    everybody = [item["email"] for item in members + invites]
    shown = (await browser.get("/dashboard/members")).text
    assert all(email in shown for email in everybody)


@pytest.mark.parametrize("name", ["", " ", "a\nb", "a\tb", "a\x7fb", "a\u2028b", "\u202egnol", "\u200b", "x" * 101])
async def test_a_name_that_cannot_be_seen_as_it_is_is_refused(make, alice, name):
    client = await make.browser(alice)
    asked = {
        "/v1/workspaces": {"name": name},
        "/v1/keys": {"name": name, "scopes": ["documents.read"]},
    }
    for path, body in asked.items():
        answer = await client.post(path, json=body)
        assert (answer.status_code, answer.json()["error"]["details"][0]["field"]) == (400, "name"), path
    assert await shared(client, " Zwei  Wörter 👩\u200d💻 ")


@pytest.mark.parametrize("email", ["a,b@x.test", "<a@x.test>", "a;b@x.test", '"a"@x.test', "a\u202eb@x.test", "a@b@c"])
async def test_an_address_that_a_mail_would_read_as_something_else_is_refused(make, alice, email):
    client = await make.browser(alice)
    answer = await client.post(f"/v1/workspaces/{await shared(client)}/invites", json={"email": email})
    assert (answer.status_code, answer.json()["error"]["details"][0]["field"]) == (400, "email")
    assert not is_address(email)


@proves("WS-INVITE-MAILED")
async def test_where_mails_are_sent_only_their_reader_can_make_the_account_of_an_invite(
    settings, database, make, alice, sql
):
    email = f"{secrets.token_hex(6)}@example.test"
    mails = SecretStr("smtp://127.0.0.1:1")
    async with serving(settings.model_copy(update={"signup": "invite", "smtp_url": mails})) as app:
        browser = await with_password(app, alice)
        await browser.fill("/dashboard/workspaces", name="Mailed")
        shown = await browser.fill("/dashboard/members", "/dashboard/invites", email=email, role="viewer")
        assert (shown.status_code, "/invite/" in shown.text) == (200, False)
        assert f"{email} is invited. A mail with the link is sent." in shown.text
        client = await Make(app, database).browser(alice)
        answer = await client.post(f"/v1/workspaces/{await shared(client)}/invites", json={"email": email})
        assert (answer.status_code, answer.json()["data"]["link"]) == (201, None)
        body = await sql.fetchval("SELECT body FROM mail_outbox WHERE recipient = $1 LIMIT 1", email)
        token = re.search(r"/invite/(\S+)", body).group(1)
        assert (await Visitor(app).fill(f"/sign-up/{token}", name="New", password=PASSWORD)).status_code == 303
    for change in ({"signup": "closed", "smtp_url": mails}, {"signup": "open", "smtp_url": SecretStr("")}):
        assert not settings.model_copy(update=change).mailed_links
