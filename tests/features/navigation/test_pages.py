"""The search page."""

from __future__ import annotations

import re

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
