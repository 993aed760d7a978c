"""Public links: published by a person, read by anybody with the address, over at once."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime, timedelta

import pytest

from app.features.links import jobs, shown
from app.features.links.service import LinkAddresses
from app.gate.policy import Limit
from app.store.jobs import Work
from tests.contract.requirements import proves
from tests.support.service import BASE_URL, client_of, serving
from tests.support.visitor import Visitor, signed_in, with_password

PASSWORD = "eight letters"


@pytest.fixture
async def browser(make, alice):
    """Alice's browser, on a page of ours."""
    return await make.browser(alice)


@pytest.fixture
def reader(make):
    """Somebody without an account, at an address of its own."""
    return make.client()


async def share(browser, item, item_type="document", **wanted):
    answer = await browser.post("/v1/links", json={"itemType": item_type, "itemId": item["id"], **wanted})
    assert answer.status_code == 201, answer.text
    return answer.json()["data"]


def path(link):
    return link["url"].removeprefix(BASE_URL)


@proves("LINK-PAGE")
async def test_the_preview_of_a_shared_text_is_what_a_reader_sees_of_it(alice, browser, reader, make):
    content = (
        "# Horn\n\nSound **it** [thrice](https://example.com/a), `now`:\n\n- when *fog*\n  comes\n- ![a ship](x.png)\n"
    )
    link = await share(browser, await make.document(alice.client, title="T", content=content))
    page = await reader.get(path(link))
    for name in ('property="og:description"', 'name="description"'):
        assert f'<meta {name} content="Horn Sound it thrice, now: when fog comes a ship">' in page.text


@proves("LINK-PAGE", "LINK-HEADERS")
async def test_a_shared_document_is_a_page_for_people_that_nobody_may_index_or_script(alice, browser, reader, make):
    made = await make.document(alice.client, title="Fog & <b>light</b>", content="# Horn\nSound *it*.", tags=["t"])
    link = await share(browser, made)
    page = await reader.get(path(link))
    assert page.status_code == 200
    assert re.fullmatch(r"/s/[\w-]{43}", path(link))
    assert '<h1 dir="auto">Fog &amp; &lt;b&gt;light&lt;/b&gt;</h1>' in page.text
    assert '<h2 id="t-horn">Horn</h2>' in page.text
    assert "<em>it</em>" in page.text
    assert 'property="og:title" content="Fog &amp; &lt;b&gt;light&lt;/b&gt;"' in page.text
    assert f'property="og:url" content="{link["url"]}"' in page.text
    assert "<script" not in page.text
    assert page.headers["x-robots-tag"].startswith("noindex")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert policy.endswith("sandbox allow-forms")
    assert page.headers["cache-control"] == "no-cache"
    assert "set-cookie" not in page.headers
    assert "access-control-allow-origin" not in page.headers
    assert alice.email not in page.text


@proves("LINK-TWIN")
async def test_the_markdown_twin_is_the_stored_text_byte_for_byte(alice, browser, reader, make):
    content = "---\na: 1\n---\n\r\n# T\u200b\n<script>x</script>\n"
    link = await share(browser, await make.document(alice.client, title="a/b", content=content))
    twin = await reader.get(path(link) + ".md")
    assert twin.content == content.encode()
    assert twin.headers["content-type"] == "text/markdown; charset=utf-8"
    assert twin.headers["content-disposition"] == "inline; filename*=UTF-8''a-b.md"


@proves("LINK-REVOKE")
@pytest.mark.parametrize("twin", ["", ".md"])
async def test_the_end_is_seen_at_once_also_by_what_was_cached(alice, browser, reader, make, settings, twin):
    link = await share(browser, await make.document(alice.client))
    async with serving(settings) as other, client_of(other) as elsewhere:
        first = await reader.get(path(link) + twin)
        known = {"if-none-match": first.headers["etag"]}
        assert (await reader.get(path(link) + twin, headers=known)).status_code == 304
        assert (await elsewhere.get(path(link) + twin, headers=known)).status_code == 304
        assert (await browser.delete(f"/v1/links/{link['id']}")).status_code == 204
        for client in (reader, elsewhere):
            ended = await client.get(path(link) + twin, headers=known)
            assert ended.status_code == 404
            assert ended.headers["cache-control"] == "no-store"
    assert (await browser.delete(f"/v1/links/{link['id']}")).status_code == 404


@proves("LINK-REVOKE")
@pytest.mark.parametrize("twin", ["", ".md"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
async def test_nobody_can_tell_what_ended_from_what_never_was(alice, browser, reader, make, sql, method, twin):
    made = {name: await make.document(alice.client) for name in ("ended", "replaced", "expired", "deleted")}
    links = {name: await share(browser, item, password=PASSWORD) for name, item in made.items()}
    for name in ("ended", "replaced"):
        await browser.delete(f"/v1/links/{links[name]['id']}")
    await share(browser, made["replaced"])
    await sql.execute("UPDATE links SET expires_at = clock_timestamp() WHERE id = $1", links["expired"]["id"])
    await alice.client.delete(f"/v1/documents/{made['deleted']['id']}")
    sent = {"data": {"password": PASSWORD}} if method == "POST" else {}
    answers = [
        await reader.request(method, address + twin, **sent)
        for address in (f"/s/{'x' * 43}", *map(path, links.values()))
    ]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.content for answer in answers}) == 1
    varying = {"date", "x-request-id"}
    assert len({frozenset((k, v) for k, v in a.headers.items() if k not in varying) for a in answers}) == 1


@proves("LINK-AGAIN")
async def test_shared_again_means_another_address_and_there_is_one_at_a_time(alice, browser, reader, make):
    made = await make.document(alice.client)
    first = await share(browser, made)
    sent = {"itemType": "document", "itemId": made["id"]}
    both = await asyncio.gather(*(browser.post("/v1/links", json=sent) for _ in range(3)))
    assert {answer.json()["error"]["reason"] for answer in both} == {"ALREADY_SHARED"}
    await browser.delete(f"/v1/links/{first['id']}")
    tried = await asyncio.gather(*(browser.post("/v1/links", json=sent) for _ in range(4)))
    assert sorted(answer.status_code for answer in tried) == [201, 409, 409, 409]
    (second,) = [answer.json()["data"] for answer in tried if answer.status_code == 201]
    assert second["url"] != first["url"]
    assert (await reader.get(path(first))).status_code == 404
    assert (await reader.get(path(second))).status_code == 200


@proves("LINK-CURRENT")
async def test_it_shows_the_text_as_it_is_and_nothing_once_it_is_deleted(alice, browser, reader, make):
    made = await make.document(alice.client, content="before")
    link = await share(browser, made)
    before = await reader.get(path(link))
    await alice.client.patch(f"/v1/documents/{made['id']}", json={"content": "after"})
    after = await reader.get(path(link), headers={"if-none-match": before.headers["etag"]})
    assert "after" in after.text
    await alice.client.delete(f"/v1/documents/{made['id']}")
    assert (await reader.get(path(link))).status_code == 404
    assert (await reader.get(path(link) + ".md")).status_code == 404
    assert (await browser.get("/v1/links")).json()["data"] == []
    await alice.client.post(f"/v1/trash/{made['id']}/restore")
    assert (await reader.get(path(link))).status_code == 200
    await alice.client.delete(f"/v1/documents/{made['id']}")
    purged = await alice.client.delete(f"/v1/trash/{made['id']}")
    assert purged.json()["data"]["purged"]["links"] == 1, purged.text
    assert (await reader.get(path(link))).status_code == 404


@proves("LINK-PROMPT")
async def test_a_prompt_with_a_live_link_says_so_as_a_new_revision(alice, browser, reader, make, database, sql):
    made = await make.prompt(alice.client, content="Say ${name}")
    url = f"/v1/prompts/{made['id']}"
    link = await share(browser, made, "prompt")
    shared = await alice.client.get(url)
    assert (shared.json()["data"]["isPublic"], shared.json()["data"]["revision"]) == (True, 2)
    assert shared.headers["etag"] != f'"r1-{made["contentHash"][:16]}"'
    assert (await alice.client.patch(url, json={"isPublic": False})).status_code == 400
    assert "Say ${name}" in (await reader.get(path(link))).text
    await browser.delete(f"/v1/links/{link['id']}")
    assert (await alice.client.get(url)).json()["data"]["isPublic"] is False
    await share(browser, made, "prompt", expiresAt=(datetime.now(UTC) + timedelta(hours=1)).isoformat())
    await sql.execute("UPDATE links SET expires_at = now() WHERE ended_at IS NULL AND item_id = $1", made["id"])
    await jobs.sweep(Work(database, {}))
    expired = (await alice.client.get(url)).json()["data"]
    assert (expired["isPublic"], expired["revision"], expired["currentVersion"]) == (False, 5, 1)


@proves("LINK-EXPIRY")
async def test_its_time_over_it_is_gone_before_any_sweep(alice, browser, reader, make, sql):
    made = await make.document(alice.client)
    past = {"itemType": "document", "itemId": made["id"], "expiresAt": "2020-01-01T00:00:00Z"}
    assert (await browser.post("/v1/links", json=past)).status_code == 400
    link = await share(browser, made, expiresAt=(datetime.now(UTC) + timedelta(hours=1)).isoformat())
    assert (await reader.get(path(link))).status_code == 200
    await sql.execute("UPDATE links SET expires_at = clock_timestamp() WHERE id = $1", link["id"])
    assert (await reader.get(path(link))).status_code == 404
    assert (await browser.get("/v1/links", params={"itemId": made["id"]})).json()["data"] == []
    assert (await share(browser, made))["url"] != link["url"]


async def test_an_ended_link_is_forgotten_after_thirty_days(alice, browser, make, database, sql):
    made = await make.document(alice.client)
    links = []
    for days in (29, 31):
        links.append(await share(browser, made))
        await browser.delete(f"/v1/links/{links[-1]['id']}")
        await sql.execute(
            "UPDATE links SET ended_at = now() - make_interval(days => $2) WHERE id = $1", links[-1]["id"], days
        )
    await jobs.sweep(Work(database, {}))
    assert await sql.fetchval("SELECT count(*) FROM links WHERE item_id = $1", made["id"]) == 1


@proves("LINK-PASSWORD")
async def test_a_password_opens_it_for_one_answer_and_guesses_are_few(alice, browser, make, sql):
    made = await make.document(alice.client, title="Hidden title", content="hidden text")
    short = {"itemType": "document", "itemId": made["id"], "password": "short"}
    assert (await browser.post("/v1/links", json=short)).status_code == 400
    link = await share(browser, made, password=PASSWORD)
    stored = await sql.fetchval("SELECT password_hash FROM links WHERE id = $1", link["id"])
    assert stored.startswith("$argon2id$")
    client = make.client(**{"x-forwarded-for": "10.1.2.3"})
    for twin in ("", ".md"):
        asked = await client.get(path(link) + twin)
        assert "idden" not in asked.text
        wrong = await client.post(path(link) + twin, data={"password": "wrong"})
        assert wrong.status_code == 403
        assert "idden" not in wrong.text
        right = await client.post(path(link) + twin, data={"password": PASSWORD})
        assert right.status_code == 200
        assert "hidden text" in right.text
        assert right.headers["cache-control"] == "no-store"
        assert "etag" not in right.headers
        assert "set-cookie" not in right.headers
    tries = [await client.post(path(link), data={"password": f"guess {number}"}) for number in range(8)]
    assert [answer.status_code for answer in tries] == [403] * 8
    assert (await client.post(path(link), data={"password": "one too many"})).status_code == 429
    assert (await client.post(path(link), data={"password": PASSWORD})).status_code == 429
    neighbour = make.client(**{"x-forwarded-for": "10.1.2.4"})
    assert (await neighbour.post(path(link), data={"password": PASSWORD})).status_code == 200


@proves("LINK-PASSWORD")
async def test_the_right_password_is_counted_against_nobody(alice, browser, make, monkeypatch):
    monkeypatch.setattr(shown, "_OF_ALL", Limit(12, 3600))
    link = await share(browser, await make.document(alice.client), password=PASSWORD)
    reader = make.client(**{"x-forwarded-for": "10.1.2.5"})
    opened = [(await reader.post(path(link), data={"password": PASSWORD})).status_code for _ in range(15)]
    assert opened == [200] * 15
    wrong = [(await reader.post(path(link), data={"password": "wrong"})).status_code for _ in range(11)]
    assert wrong == [403] * 10 + [429]


@proves("LINK-TOKEN")
async def test_the_database_alone_opens_nothing_and_the_address_can_be_shown_again(alice, browser, make, sql, service):
    link = await share(browser, await make.document(alice.client))
    token = path(link).removeprefix("/s/")
    rows = await sql.fetch("SELECT l::text FROM links l UNION ALL SELECT t::text FROM link_tokens t")
    assert all(token not in row["l"] for row in rows)
    (listed,) = (await browser.get("/v1/links")).json()["data"]
    assert listed["url"] == link["url"]
    digest = await sql.fetchval("SELECT token_hash FROM link_tokens WHERE link_id = $1", link["id"])
    made = service.state.gate.get(LinkAddresses)
    rotated = LinkAddresses(made.url, "another secret", made._secrets[0])
    assert rotated.of(listed["id"], digest) == link["url"]
    assert LinkAddresses(made.url, "another secret").of(listed["id"], digest) is None


@proves("LINK-PERSON")
async def test_only_who_may_write_publishes(alice, make):
    made = await make.document(alice.client)
    sent = {"itemType": "document", "itemId": made["id"]}
    viewer = await make.browser(await make.member(alice.workspace_id, "viewer"))
    assert (await viewer.post("/v1/links", json=sent)).status_code == 403
    member = await make.browser(await make.member(alice.workspace_id, "member"))
    link = (await member.post("/v1/links", json=sent)).json()["data"]
    assert [item["id"] for item in (await viewer.get("/v1/links")).json()["data"]] == [link["id"]]
    assert (await viewer.delete(f"/v1/links/{link['id']}")).status_code == 403
    wrong = await member.post("/v1/links", json=sent | {"itemType": "prompt"})
    assert wrong.status_code == 404


@proves("LINK-COUNTS")
async def test_views_and_copies_are_counted(alice, browser, reader, make, service):
    link = await share(browser, await make.document(alice.client))
    await asyncio.gather(*(reader.get(path(link)) for _ in range(3)), reader.get(path(link) + ".md"))
    await reader.head(path(link))
    await service.state.gate._marks.flush()
    await reader.get(path(link))
    await service.state.gate._marks.flush()
    (listed,) = (await browser.get("/v1/links")).json()["data"]
    assert (listed["views"], listed["copies"]) == (4, 1)
    assert listed["lastViewedAt"] is not None


@proves("PRM-STATS")
async def test_a_prompt_counts_what_its_links_showed_also_after_them(
    alice, browser, reader, make, service, sql, database
):
    made = await make.prompt(alice.client)
    url = f"/v1/prompts/{made['id']}"
    assert made["stats"] == {"views": 0, "copies": 0}
    first = await share(browser, made, "prompt")
    tag = (await alice.client.get(url)).headers["etag"]
    await asyncio.gather(reader.get(path(first)), reader.get(path(first)), reader.get(path(first) + ".md"))
    await service.state.gate._marks.flush()
    counted = await alice.client.get(url)
    assert (counted.json()["data"]["stats"], counted.headers["etag"]) == ({"views": 2, "copies": 1}, tag)
    assert (await browser.delete(f"/v1/links/{first['id']}")).status_code == 204
    await sql.execute("UPDATE links SET ended_at = now() - interval '31 days' WHERE id = $1::uuid", first["id"])
    await jobs.sweep(Work(database, {}))
    assert await sql.fetchval("SELECT count(*) FROM links WHERE id = $1::uuid", first["id"]) == 0
    second = await share(browser, made, "prompt")
    await reader.get(path(second))
    await service.state.gate._marks.flush()
    listed = (await alice.client.get("/v1/prompts")).json()["data"][0]
    assert listed["stats"] == {"views": 3, "copies": 1}


@proves("LINK-RATE")
async def test_one_address_opens_so_many_and_no_more(make):
    client = make.client(**{"x-forwarded-for": "10.9.9.9"})
    statuses = [(await client.get(f"/s/{'x' * 43}")).status_code for _ in range(122)]
    assert statuses == [404] * 120 + [429] * 2


@proves("LINK-INSIDE")
async def test_a_link_to_what_is_private_becomes_plain_text(alice, browser, reader, make):
    private = await make.document(alice.client)
    other = await share(browser, private)
    content = (
        f"[mine]({BASE_URL}/dashboard/documents/{private['id']}) [rel](/dashboard) [ctx](ctx://pages/x) [near](x.md) "
        f"<{BASE_URL}/v1/documents> [shared]({other['url']}) [out](https://example.com/a) ![pic](https://example.com/p.png)"
    )
    page = await reader.get(path(await share(browser, await make.document(alice.client, content=content))))
    article = page.text[page.text.index("<article") : page.text.index("</article>")]
    assert re.findall(r'href="([^"]+)"', article) == [
        other["url"],
        "https://example.com/a",
        "https://example.com/p.png",
    ]
    assert "mine" in article
    assert "<img" not in article
    assert all('rel="noopener noreferrer nofollow ugc"' in tag for tag in re.findall(r"<a [^>]+>", article))


@proves("LINK-DASHBOARD")
async def test_people_share_and_end_by_forms(alice, make, service):
    visitor = await with_password(service, alice)
    made = await make.document(alice.client, title="By form")
    page = f"/dashboard/share/document/{made['id']}"
    assert "Make a public link" in (await visitor.get(f"/dashboard/documents/{made['id']}")).text
    assert (await visitor.fill(page, days="7", password="")).status_code == 303
    shown = await visitor.get(page)
    address = re.search(rf'value="({BASE_URL}/s/[\w-]{{43}})"', shown.text)[1]
    assert "By form" in (await visitor.get("/dashboard/links")).text
    assert (await Visitor(service).get(address)).status_code == 200
    end = re.search(r'action="(/dashboard/links/[^"]+/end)"', shown.text)[1]
    assert (await visitor.fill(page, leads_to=end)).status_code == 303
    assert (await Visitor(service).get(address)).status_code == 404
    assert (await visitor.fill(page, password="short")).status_code == 400


@pytest.mark.parametrize(("address", "told"), [("http://127.0.0.1:8000", True), ("http://links.test", False)])
async def test_people_are_told_where_links_open_on_this_machine_alone(settings, make, alice, address, told):
    made = await make.document(alice.client)
    async with serving(settings.model_copy(update={"links_url": address})) as app:
        browser = await signed_in(app, make, alice)
        for page in (f"/dashboard/share/document/{made['id']}", f"/dashboard/documents/{made['id']}"):
            assert ("opens on this machine alone" in (await browser.get(page)).text) is told


@proves("LINK-HOST")
async def test_on_a_host_of_its_own_there_is_nothing_else(settings, make, alice):
    apart = settings.model_copy(update={"links_url": "http://links.test"})
    made = await make.document(alice.client)
    async with serving(apart) as app:
        cookie = f"session={await make.session(alice)}"
        async with client_of(app, cookie=cookie, **{"sec-fetch-site": "same-origin", "origin": BASE_URL}) as browser:
            link = await share(browser, made)
            assert link["url"].startswith("http://links.test/s/")
            here = link["url"].removeprefix("http://links.test")
            moved = await browser.get(here)
            assert (moved.status_code, moved.headers["location"]) == (308, link["url"])
            there = {"host": "links.test"}
            assert (await browser.get(here, headers=there)).status_code == 200
            for path_ in ("/", "/dashboard", "/v1/documents", "/mcp", "/sign-in"):
                assert (await browser.get(path_, headers=there)).status_code == 404
