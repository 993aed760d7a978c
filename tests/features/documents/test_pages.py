"""Documents in the dashboard, by forms alone: as they work without JavaScript."""

from __future__ import annotations

import html
import re
from urllib.parse import urlsplit

import pytest

from tests.contract.requirements import proves
from tests.support.visitor import as_browser, hidden, signed_in

LIST = "/dashboard/documents"


@pytest.fixture
async def person(service, make, alice):
    return await signed_in(service, make, alice)


async def read(alice, document_id):
    return (await alice.client.get(f"/v1/documents/{document_id}")).json()["data"]


@proves("DASH-WRITE")
async def test_a_document_is_written_read_and_edited(person, alice):
    text = "# Café\n\nIt is *good*.\n"
    answer = await person.fill(f"{LIST}/new", title="Plan", content=as_browser(text), tags="a, b, a", action="save")
    assert answer.status_code == 303
    here = answer.headers["location"]
    stored = await read(alice, here.rpartition("/")[2])
    assert (stored["title"], stored["content"], stored["tags"]) == ("Plan", text, ["a", "b"])
    shown = await person.get(here)
    assert '<h2 id="t-café">Café</h2>' in shown.text
    assert "<em>good</em>" in shown.text
    assert "# Café" in (await person.get(f"{here}?as=stored")).text
    fields = {"title": "Plan", "content": as_browser(text + "More.\n"), "tags": "a, b", "action": "save"}
    assert (await person.fill(f"{here}/edit", change_log="more", **fields)).status_code == 303
    stored = await read(alice, stored["id"])
    assert (stored["content"], stored["currentVersion"], stored["tags"]) == (text + "More.\n", 2, ["a", "b"])
    versions = (await alice.client.get(f"/v1/documents/{stored['id']}/versions")).json()["data"]
    assert versions[0]["changeLog"] == "more"


async def test_a_form_that_is_sent_twice_makes_one_document(person, alice):
    shown = await person.get(f"{LIST}/new")
    fields = hidden(shown, f"{LIST}/new") | {"title": "Once", "content": "x", "tags": "", "action": "save"}
    first, second = [await person.send(f"{LIST}/new", fields) for _ in range(2)]
    assert first.headers["location"] == second.headers["location"]
    assert len((await alice.client.get("/v1/documents")).json()["data"]) == 1


@proves("DASH-EXACT")
@pytest.mark.parametrize(
    "text", ["a\r\nb\r\n\r\nc", "a\nb", "\n\nbegins empty", "ends\n\n\n", "mixed\r\nends\nhere\r\n", ""]
)
async def test_a_text_that_nobody_changed_stays_byte_for_byte(text, person, make, alice):
    document = await make.document(alice.client, content=text)
    here = f"{LIST}/{document['id']}/edit"
    shown = await person.get(here)
    area = re.search(r"<textarea id=\"f-content\"[^>]*>\n(.*?)</textarea>", shown.text, re.DOTALL)
    sent = {"title": "Another title", "content": as_browser(html.unescape(area[1])), "tags": "", "action": "save"}
    assert (await person.fill(here, **sent)).status_code == 303
    stored = await read(alice, document["id"])
    assert (stored["title"], stored["content"], stored["currentVersion"]) == ("Another title", text, 1)


async def test_new_lines_end_as_the_stored_ones(person, make, alice):
    document = await make.document(alice.client, content="one\r\ntwo\r\nthree\r\n")
    sent = {"title": "A title", "content": as_browser("one\n2\nthree\nfour\n"), "tags": "", "action": "save"}
    await person.fill(f"{LIST}/{document['id']}/edit", **sent)
    assert (await read(alice, document["id"]))["content"] == "one\r\n2\r\nthree\r\nfour\r\n"


@proves("DASH-CONFLICT")
async def test_what_somebody_wrote_meanwhile_is_shown_merged_and_kept(person, make, alice):
    base = "one\n\ntwo\n\nthree\n"
    document = await make.document(alice.client, content=base, tags=["t"])
    here, url = f"{LIST}/{document['id']}/edit", f"/v1/documents/{document['id']}"
    mine = hidden(await person.get(here), here) | {"title": "A title", "tags": "t", "action": "save"}
    theirs = {"content": base.replace("three", "THREE"), "title": "Their title"}
    assert (await alice.client.patch(url, json=theirs)).status_code == 200
    answer = await person.send(here, mine | {"content": as_browser(base.replace("one", "ONE"))})
    assert answer.status_code == 409
    assert (await read(alice, document["id"]))["content"] == theirs["content"]
    assert re.search(r'is-ins"[^>]*><bdi class="hidden">added: </bdi>THREE<', answer.text)
    assert "Save both changes" in answer.text
    merged = html.unescape(re.search(r"<textarea id=\"f-content\"[^>]*>\n(.*?)</textarea>", answer.text, re.DOTALL)[1])
    assert merged == "ONE\n\ntwo\n\nTHREE\n"
    draft = html.unescape(re.search(r"<textarea id=\"f-mine\"[^>]*>\n(.*?)</textarea>", answer.text, re.DOTALL)[1])
    assert draft == "ONE\n\ntwo\n\nthree\n"
    title = re.search(r'id="f-title"[^>]* value="([^"]*)"', answer.text)[1]
    assert title == "Their title"
    again = hidden(answer, here) | {"title": title, "tags": "t", "content": as_browser(merged), "action": "save"}
    assert (await person.send(here, again)).status_code == 303
    stored = await read(alice, document["id"])
    assert (stored["title"], stored["content"], stored["revision"]) == ("Their title", merged, 3)


async def test_changes_of_one_line_are_told_apart_and_the_draft_is_kept(person, make, alice):
    document = await make.document(alice.client, content="one\n")
    here = f"{LIST}/{document['id']}/edit"
    mine = hidden(await person.get(here), here) | {"title": "A title", "tags": "", "action": "save"}
    await alice.client.patch(f"/v1/documents/{document['id']}", json={"content": "two\n"})
    answer = await person.send(here, mine | {"content": "three\r\n"})
    assert answer.status_code == 409
    assert "Both changed the same lines" in answer.text
    assert ">\nthree\n</textarea>" in answer.text
    assert "Save both changes" not in answer.text


async def test_a_tag_of_somebody_else_survives_a_change_of_the_text(person, make, alice):
    document = await make.document(alice.client, content="one\n")
    here = f"{LIST}/{document['id']}/edit"
    shown = hidden(await person.get(here), here)
    await alice.client.patch(f"/v1/documents/{document['id']}", json={"tags": ["theirs"]})
    answer = await person.send(here, shown | {"title": "A title", "tags": "", "content": "two\r\n", "action": "save"})
    assert answer.status_code == 409
    tags = re.search(r'id="f-tags"[^>]* value="([^"]*)"', answer.text)[1]
    assert tags == "theirs"


async def test_a_preview_saves_nothing_and_needs_a_session(person, make, alice):
    document = await make.document(alice.client, content="one\n")
    here = f"{LIST}/{document['id']}/edit"
    shown = hidden(await person.get(here), here)
    fields = shown | {"title": "A title", "tags": "", "content": "**bold**", "action": "preview"}
    answer = await person.send(here, fields)
    assert "<strong>bold</strong>" in answer.text
    assert (await read(alice, document["id"]))["revision"] == 1
    person.client.cookies.delete("session")
    assert (await person.send(here, fields)).status_code in (303, 403)


@proves("DASH-HISTORY")
async def test_versions_are_compared_and_restored_in_one_step(person, make, alice):
    document = await make.document(alice.client, content="one\ntwo\n")
    url, here = f"/v1/documents/{document['id']}", f"{LIST}/{document['id']}"
    await alice.client.patch(url, json={"content": "one\n2\n", "changeLog": "a digit"})
    shown = await person.get(f"{here}/versions")
    assert "a digit" in shown.text
    diff = await person.get(f"{here}/diff?from=1&to=2")
    assert diff.status_code == 200
    assert "two" in diff.text
    back = re.search(rf'action="({here}/versions/[^"]+/restore)"', shown.text)[1]
    assert (await person.send(back, hidden(shown, back))).status_code == 303
    stored = await read(alice, document["id"])
    assert (stored["content"], stored["currentVersion"]) == ("one\ntwo\n", 3)
    stale = await person.send(back, hidden(shown, back))
    assert stale.status_code == 409
    assert "changed meanwhile" in stale.text


@proves("DASH-LISTS")
async def test_lists_are_narrowed_paged_and_changed_at_once(person, make, alice):
    made = [
        await make.document(alice.client, title=f"Number {n:02}", tags=["even"] if n % 2 == 0 else [])
        for n in range(55)
    ]
    first = await person.get(LIST)
    assert first.text.count('class="item"') == 50
    older = html.unescape(re.search(r'rel="next" href="([^"]+)"', first.text)[1])
    assert (await person.get(older)).text.count('class="item"') == 5
    assert (await person.get(f"{LIST}?tag=even&q=Number+1")).text.count('class="item"') == 5
    assert (await person.get(f"{LIST}?status=ready")).text.count('class="item"') == 0
    collection = await make.collection(alice.client)
    chosen = {f"item.{one['id']}": "on" for one in made[-3:]}
    token = hidden(first, f"{LIST}/bulk")
    to = token | chosen | {"collection": collection["id"], "tag": "", "action": "collect"}
    assert (await person.send(f"{LIST}/bulk", to)).status_code == 303
    assert (await person.get(f"{LIST}?collection={collection['id']}")).text.count('class="item"') == 3
    tagged = token | chosen | {"tag": "fresh", "action": "tag"}
    assert (await person.send(f"{LIST}/bulk", tagged)).status_code == 303
    assert (await person.get(f"{LIST}?tag=fresh")).text.count('class="item"') == 3
    assert (await person.send(f"{LIST}/bulk", token | chosen | {"action": "delete"})).status_code == 303
    assert (await person.get(f"{LIST}?tag=fresh")).text.count('class="item"') == 0
    nothing = await person.send(f"{LIST}/bulk", token | {"action": "delete"})
    assert nothing.status_code == 400


async def test_a_document_is_deleted_as_it_was_shown_or_not_at_all(person, make, alice):
    document = await make.document(alice.client)
    here = f"{LIST}/{document['id']}"
    shown = hidden(await person.get(here), f"{here}/delete")
    await alice.client.patch(f"/v1/documents/{document['id']}", json={"content": "new"})
    assert (await person.send(f"{here}/delete", shown)).status_code == 409
    assert (await person.fill(here, f"{here}/delete")).status_code == 303
    assert (await person.get(here)).status_code == 404


@proves("DASH-LEASES")
async def test_the_page_tells_who_holds_a_document_and_switches_its_policy(person, make, alice):
    document = await make.document(alice.client)
    here, url = f"{LIST}/{document['id']}", f"/v1/documents/{document['id']}"
    before = hidden(await person.get(here), f"{here}/delete")
    answer = await person.fill(here, f"{here}/policy", policy="lease_required")
    assert answer.status_code == 303
    shown = await person.get(here)
    assert "nobody holds it now" in shown.text
    assert f"{here}/edit" not in shown.text
    lease = await alice.client.post(
        f"{url}/coordination/lease", json={"action": "acquire"}, headers={"Idempotency-Key": "k"}
    )
    assert lease.status_code == 200
    shown = await person.get(here)
    assert "Held" in shown.text
    assert lease.json()["data"]["leaseId"] not in shown.text
    refused = await person.send(f"{here}/delete", before)
    assert refused.status_code == 409
    assert "Write without leases" in refused.text
    assert (await person.fill(here, f"{here}/policy", policy="standard")).status_code == 303
    assert f"{here}/edit" in (await person.get(here)).text


@proves("DASH-LEASES")
async def test_a_leased_document_has_no_button_that_would_be_refused_and_says_what_helps(person, make, alice, sql):
    document = await make.document(alice.client)
    here = f"{LIST}/{document['id']}"
    await alice.client.patch(f"/v1/documents/{document['id']}", json={"content": "new"})
    await sql.execute("UPDATE documents SET source_type = 'url' WHERE id = $1::uuid", document["id"])
    versions = (await person.get(f"{here}/versions")).text
    restore = re.search(rf'{here}/versions/[^"]+/restore', versions)[0]
    buttons = {f"{here}/delete": here, f"{here}/refresh": here, restore: f"{here}/versions"}
    before = {to: hidden(await person.get(page), to) for to, page in buttons.items()}
    edited = hidden(await person.get(f"{here}/edit"), f"{here}/edit")
    await person.fill(here, f"{here}/policy", policy="lease_required")
    for to, page in buttons.items():
        shown = await person.get(page)
        assert to not in shown.text
        assert "Write without leases" in shown.text
        assert_for_people(await person.send(to, before[to]))
    assert (await person.get(f"{here}/edit")).headers["location"] == here
    draft = {"title": "Draft", "content": "Kept", "tags": "", "action": "save"}
    saved = await person.send(f"{here}/edit", edited | draft)
    assert_for_people(saved)
    assert "Kept" in saved.text
    for action in ("tag", "delete"):
        ticked = {f"item.{document['id']}": "on", "action": action, "tag": "x"}
        assert_for_people(await person.fill(LIST, f"{LIST}/bulk", **ticked))


def assert_for_people(answer):
    assert answer.status_code == 409
    assert "Write without leases" in answer.text
    assert not re.search(r"/v1/|X-ContextRepo|Idempotency-Key|If-Match", answer.text)


async def test_pages_of_another_workspace_are_not_found(service, make, alice, person):
    other = await make.user()
    document = await make.document(other.client)
    for path in ("", "/edit", "/versions", "/diff?from=1", "/original"):
        assert (await person.get(f"{LIST}/{document['id']}{path}")).status_code == 404


@proves("DASH-404")
async def test_what_is_no_page_is_told_to_a_person(person):
    for path in ("/dashboard/nothing", "/dashboard/documents/x/y/z", "/dashboard/nothing/"):
        answer = await person.get(path)
        assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
        assert "<h1" in answer.text


@pytest.mark.parametrize(("url", "linked"), [("https://example.test/a", True), ("javascript:alert(1)", False)])
async def test_only_a_source_on_the_web_is_a_link(person, alice, make, sql, url, linked):
    made = await make.document(alice.client)
    await sql.execute("UPDATE documents SET source_url = $1 WHERE id = $2::text::uuid", url, made["id"])
    shown = (await person.get(f"{LIST}/{made['id']}")).text
    assert f"<bdi>{url}</bdi>" in shown
    assert (f'href="{url}"' in shown) is linked


@proves("DASH-OUTLINE")
async def test_a_long_document_has_a_table_of_contents(person, make, alice):
    below = "\n\n".join(f"## Part {n}\n\n### Deeper {n}\n\n#### Deepest {n}\n\n" + "Words. " * 90 for n in range(4))
    long = await make.document(alice.client, content=f"# The whole <b>\n\n{below}")
    shown = (await person.get(f"{LIST}/{long['id']}")).text
    assert shown.count('<a href="#t-') == 2 * 8  # once for narrow windows, once for wide ones
    for target in re.findall(r'<a href="#(t-[^"]+)"', shown):
        assert f'id="{target}"' in shown
    assert "The whole" not in re.search(r'<nav aria-label="Contents">.*?</nav>', shown)[0]
    assert 'href="#t-' not in (await person.get(f"{LIST}/{long['id']}?as=stored")).text
    for text in (below[:1000], "Words. " * 900, "# One\n\n# Two\n\n" + "Words. " * 900):
        other = await make.document(alice.client, content=text)
        assert 'href="#t-' not in (await person.get(f"{LIST}/{other['id']}")).text


async def test_a_title_that_the_text_begins_with_is_shown_once(person, make, alice):
    twice = 'class="prose titled"'
    links = []
    for text, once in (
        ("# The  *whole* &\n\nWords.", True),
        ("The whole &\n===\n\nWords.", True),
        ("# Another\n\nWords.", False),
        ("Words.\n\n# The whole &", False),
        ("---\n\n# The whole &", False),
    ):
        made = await make.document(alice.client, title="The whole &", content=text)
        shown = (await person.get(f"{LIST}/{made['id']}")).text
        assert (twice in shown, shown.count("<h1")) == (once, 1), text
        await person.fill(f"{LIST}/{made['id']}", f"/dashboard/share/document/{made['id']}")
        links += re.findall(r'value="(http[^"]+/s/[^"]+)"', (await person.get(f"{LIST}/{made['id']}")).text)
    first, *_, last = [(await person.get(urlsplit(url).path)).text for url in links]
    assert (twice in first, twice in last) == (True, False)
