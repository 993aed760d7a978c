"""Questions in the dashboard: answers with numbered citations, and citations opened in their documents."""

from __future__ import annotations

import re

from app.kit.markdown.html import QUOTED_ID
from tests.contract.requirements import proves
from tests.edge.web.test_texts_of_users import PAYLOADS, Tokens
from tests.features.reason.test_quotes import GUIDE, HARBOUR
from tests.support.visitor import signed_in

ASK = "/dashboard/ask"
QUESTION = "When does the harbour open?"
CITED = re.compile(r'<a class="cite" href="(/dashboard/citations/[^"#]+)#[^"]+"[^>]*>(\d+)</a>')


async def asked(person, **fields):
    page = f"{ASK}?document={fields['document']}" if "document" in fields else ASK
    answer = await person.fill(page, ASK, **fields)
    assert answer.status_code == 303, answer.text
    return (await person.get(answer.headers["location"])).text


def marked(page):
    (found,) = re.findall(rf'<(?:p|mark)[^>]* id="{re.escape(QUOTED_ID)}"[^>]*>(.*?)</(?:p|mark)>', page, re.DOTALL)
    return found


@proves("DASH-ASK")
async def test_a_question_is_answered_with_numbers_that_open_the_document_at_the_quote(service, make, alice, index):
    person = await signed_in(service, make, alice)
    assert "Nothing to ask yet" in (await person.get(ASK)).text
    rules = await make.document(alice.client, title="Rules <b>", content=HARBOUR)
    guide = await make.document(alice.client, title="Guide", content=GUIDE)
    await index.run(alice.workspace_id)
    assert "Nothing to ask yet" not in (await person.get(ASK)).text
    said = await asked(person, q=QUESTION)
    numbers = {number: path for path, number in CITED.findall(said)}
    assert set(numbers) == {str(n) for n in range(1, said.count('class="passage"') + 1)}
    assert re.search(r"opens at six in the morning\.” ?<a class=.cite.", said)
    assert "These statements differ" in said
    assert "No language model is configured" in said
    assert "Rules &lt;b&gt;" in said
    for path in numbers.values():
        page = (await person.get(path)).text
        assert "opens at" in marked(page)
        assert "Changed since" not in page
    alone = await asked(person, q=QUESTION, document=guide["id"])
    assert "opens at eight" in alone
    assert "opens at six" not in alone
    place = await make.collection(alice.client, name="Ours", items=[rules["id"]])
    members = await asked(person, q=QUESTION, collection=place["id"])
    assert "opens at six" in members
    assert "opens at eight" not in members
    nothing = await asked(person, q="Which planets have rings?")
    assert "No answer in what is stored" in nothing


@proves("DASH-ASK")
async def test_an_answer_has_an_address_for_an_hour_that_nobody_else_can_open(service, make, alice, index, bob):
    person = await signed_in(service, make, alice)
    await make.document(alice.client, title="Rules", content=HARBOUR)
    await index.run(alice.workspace_id)
    sent = await person.fill(ASK, q=QUESTION)
    here = sent.headers["location"]
    assert QUESTION not in here
    first, again = [(await person.get(here)).text for _ in range(2)]
    assert CITED.findall(first) == CITED.findall(again) != []
    assert f'value="{QUESTION}"' in again
    for other in (await signed_in(service, make, bob), await signed_in(service, make, alice)):
        refused = await other.get(here)
        assert (refused.status_code, "kept no longer" in refused.text) == (404, True)
        assert "opens at" not in refused.text


async def test_an_answer_that_cannot_be_kept_is_shown_at_once(service, make, alice, index, monkeypatch):
    async def away(*_):
        raise OSError

    person = await signed_in(service, make, alice)
    await make.document(alice.client, title="Rules", content=HARBOUR)
    await index.run(alice.workspace_id)
    monkeypatch.setattr("app.store.redis.Line.call", away)
    shown = await person.fill(ASK, q=QUESTION)
    assert (shown.status_code, bool(CITED.findall(shown.text))) == (200, True)


@proves("DASH-ASK")
async def test_an_opened_citation_says_whether_the_document_was_changed_since(service, make, alice, index):
    person = await signed_in(service, make, alice)
    document = await make.document(alice.client, content=HARBOUR)
    await index.run(alice.workspace_id)
    path = CITED.findall(await asked(person, q=QUESTION))[0][0]
    here = f"/v1/documents/{document['id']}"
    await alice.client.patch(here, json={"content": f"A new beginning.\n\n{HARBOUR}"})
    moved = (await person.get(path)).text
    assert "still says this" in moved
    assert "opens at six" in marked(moved)
    assert "A new beginning." in moved
    await alice.client.patch(here, json={"content": "The harbour opens at nine."})
    changed = (await person.get(path)).text
    assert "Changed since: revision 3" in changed
    assert "opens at six" in marked(changed)
    assert "opens at nine" not in changed
    await alice.client.delete(here)
    assert (await person.get(path)).status_code == 404


async def test_a_text_that_cannot_be_laid_out_shows_its_quote_as_it_is_stored(service, make, alice, index, monkeypatch):
    monkeypatch.setattr("app.gate.prose.MAX_BYTES", 10)
    person = await signed_in(service, make, alice)
    await make.document(alice.client, content=f"{HARBOUR}\n\nMore <i>.")
    await index.run(alice.workspace_id)
    path = CITED.findall(await asked(person, q=QUESTION))[0][0]
    page = (await person.get(path)).text
    assert marked(page) in HARBOUR
    assert "More &lt;i&gt;." in page


async def test_what_cannot_be_answered_is_said_on_the_page(service, make, alice, bob):
    person = await signed_in(service, make, alice)
    foreign = await make.document(bob.client)
    place = await make.collection(alice.client)
    await alice.client.delete(f"/v1/collections/{place['id']}")
    for fields, status in (
        ({"q": "a", "document": foreign["id"]}, 404),
        ({"q": "a", "collection": place["id"]}, 404),
        ({"q": " "}, 400),
    ):
        answer = await person.fill(ASK, ASK, **fields)
        assert (answer.status_code, answer.text.count('class="notice bad"')) == (status, 1), fields
    assert (await person.get(f"{ASK}?document={foreign['id']}")).status_code == 404
    assert (await person.get("/dashboard/citations/cit_none")).status_code == 404


@proves("DASH-XSS")
async def test_no_answer_becomes_markup(service, make, alice, index):
    person = await signed_in(service, make, alice)
    for payload in PAYLOADS[:8]:
        await make.document(alice.client, title=payload[:90], content=f"The harbour opens at {payload} six.")
    await index.run(alice.workspace_id)
    said = await asked(person, q=QUESTION)
    assert Tokens(said).bad == []
    for path, _ in CITED.findall(said):
        assert Tokens((await person.get(path)).text).bad == []
