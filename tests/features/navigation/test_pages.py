"""The search page."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime, timedelta
from uuid import UUID

from tests.contract.requirements import proves
from tests.support.visitor import signed_in

SEARCH = "/dashboard/search"


@proves("DASH-SEARCH")
async def test_all_kinds_are_searched_with_passages_and_what_is_similar(service, make, alice):
    person = await signed_in(service, make, alice)
    text = "# Ships\n\nThe keeper rang the bell in the fog.\n\n# Oil\n\nThe lamp burns oil.\n"
    document = await make.document(alice.client, title="Lighthouse", content=text, tags=["sea"])
    other = await make.document(alice.client, title="Fog signals", content="A bell warns ships in the fog.")
    await make.prompt(alice.client, title="Bell prompt", content="Tell of a bell.")
    await make.collection(alice.client, name="Bells")
    await make.indexed(alice)
    assert "By meaning" in (await person.get(SEARCH)).text
    found = await person.get(f"{SEARCH}?q=bell")
    assert f"/dashboard/documents/{document['id']}" in found.text
    assert "Bell prompt" in found.text
    assert re.search(r'class="score"[^>]*>\d\.\d\d<', found.text)
    literal = await person.get(f"{SEARCH}?q=keeper+rang&mode=literal")
    assert f"hit-{document['id']}" in literal.text
    assert "Fog signals" not in literal.text
    assert 'class="score"' not in literal.text
    narrowed = await person.get(f"{SEARCH}?q=bell&tag=sea")
    assert "Fog signals" not in narrowed.text
    only = await person.get(f"{SEARCH}?q=bell&type=prompts")
    assert f"hit-{document['id']}" not in only.text
    opened = await person.get(f"{SEARCH}?q=bell&open={document['id']}")
    assert re.search(r'class="prose passage"[^>]*>\s*<p>[^<]*rang the bell', opened.text)
    similar = await person.get(f"{SEARCH}?similar={document['id']}")
    assert f"hit-{other['id']}" in similar.text
    assert f"hit-{document['id']}" not in similar.text


async def test_a_search_for_nothing_and_of_strange_letters_is_answered(service, make, alice):
    person = await signed_in(service, make, alice)
    for query in ("q=%20", "q=%00", "q=%F0%9F%92%A9", "q=" + "x" * 5000, "q=a&open=none", "similar=none"):
        answer = await person.get(f"{SEARCH}?{query}")
        assert answer.status_code in (200, 400, 404), query
        assert "<h1" in answer.text


@proves("DASH-SEARCH")
async def test_a_search_by_meaning_that_finds_nothing_leads_to_the_same_one_as_it_stands(service, make, alice):
    person = await signed_in(service, make, alice)
    made = await make.document(
        alice.client,
        title="Log of the harbour",
        content="The harbour master asks for ZXPTGRQ7 by the pier.",
        tags=["a&b"],
    )
    await make.indexed(alice)
    nothing = (await person.get(f"{SEARCH}?q=ptgr&tag=a%26b&type=documents")).text
    (link,) = re.findall(r'href="([^"]+)">Look for the text as it stands', nothing)
    found = (await person.get(SEARCH + html.unescape(link))).text
    assert f"hit-{made['id']}" in found
    for shown in (found, (await person.get(f"{SEARCH}?q=zeppelin&mode=literal")).text):
        assert "Look for the text as it stands" not in shown


@proves("DASH-SEARCH")
async def test_documents_are_searched_as_they_were_on_a_day(service, make, alice, sql):
    person = await signed_in(service, make, alice)
    document = await make.document(alice.client, title="Signals", content="The horn sounds.")
    await make.prompt(alice.client, title="Horn prompt", content="Tell of a horn.")
    for change in (
        "document_revisions SET decided_at = $2 WHERE document_id",
        "documents SET created_at = $2 WHERE id",
    ):
        late = datetime(2026, 5, 2, 23, 59, 59, tzinfo=UTC)
        await sql.execute(f"UPDATE {change} = $1", UUID(document["id"]), late)
    await alice.client.patch(f"/v1/documents/{document['id']}", json={"content": "A bell rings."})
    await make.indexed(alice)
    assert "Signals" not in (await person.get(f"{SEARCH}?q=horn&mode=literal")).text
    then = (await person.get(f"{SEARCH}?q=horn&mode=literal&asOf=2026-05-02")).text
    (title,) = re.findall(rf'href="(/dashboard/documents/{document["id"]}\?[^"]+)"', then)
    past = (await person.get(title)).text
    assert ("The horn sounds." in past, "A bell rings." in past) == (True, False)
    assert f'href="/dashboard/documents/{document["id"]}/diff?from=1"' in past
    assert "is at revision 2 now" in past
    current = (await person.get(title.replace("asOf=1", "asOf=2"))).text
    assert ("A bell rings." in current, "Compare with now" in current) == (True, False)
    assert "Horn prompt" not in then
    assert "as they were at the end of 2026-05-02" in then
    assert 'value="2026-05-02"' in then
    words = (await person.get(f"{SEARCH}?q=horn&asOf=2026-05-02")).text
    assert "Signals" in words
    assert "Words alone decided" in words
    for mode in ("&mode=literal", ""):
        nothing = (await person.get(f"{SEARCH}?q=horn&asOf=2026-05-01{mode}")).text
        assert "Nothing has these words. " in nothing
    assert "Nothing has these words or a meaning near them." in (await person.get(f"{SEARCH}?q=horn&tag=none")).text
    tomorrow = (datetime.now(UTC) + timedelta(days=1, hours=1)).date().isoformat()
    wrongs = {"2026-02-31": "Choose a day", "yesterday": "Choose a day", "0001-01-01": "Choose a day"}
    for wrong, said in (wrongs | {tomorrow: "That day has not begun"}).items():
        refused = (await person.get(f"{SEARCH}?q=horn&asOf={wrong}")).text
        assert f'role="alert">{said}' in refused
        assert "asOf:" not in refused
    assert 'class="notice bad"' not in (await person.get(f"{SEARCH}?q=horn&asOf={datetime.now(UTC).date()}")).text
