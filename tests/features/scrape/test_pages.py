"""Web pages in the dashboard."""

from __future__ import annotations

from tests.contract.requirements import proves
from tests.support.visitor import signed_in
from tests.support.world import PARAGRAPH, article

SAVE = "/dashboard/documents/save-page"


@proves("DASH-PAGES")
async def test_a_page_is_saved_by_its_address_and_brought_up_to_date(service, make, alice, world):
    person = await signed_in(service, make, alice)
    url = world.serve("Lighthouses")
    answer = await person.fill(SAVE, url=url, title="", tags="sea")
    assert answer.status_code == 303, answer.text
    here = answer.headers["location"]
    shown = await person.get(here)
    assert "Lighthouses" in shown.text
    assert "Look for changes" in shown.text
    same = await person.fill(here, f"{here}/refresh")
    assert "Nothing changed" in same.text
    world.answer(
        article("Lighthouses", PARAGRAPH + "<p>Since then the light turns by itself, night after night.</p>"),
        url.partition(world.authority)[2],
    )
    changed = await person.fill(here, f"{here}/refresh")
    assert changed.headers["location"] == f"{here}/diff?from=1&to=2"
    assert "turns by itself" in (await person.get(changed.headers["location"])).text


async def test_what_cannot_be_saved_says_why_and_keeps_the_form(service, make, alice, world):
    person = await signed_in(service, make, alice)
    answer = await person.fill(SAVE, url="http://127.0.0.1:1/secret", title="Mine", tags="a")
    assert answer.status_code >= 400
    assert 'value="Mine"' in answer.text
    assert 'class="notice bad"' in answer.text
    assert "url:" not in answer.text
    assert "Address: " in answer.text
    assert "FETCH_ALLOW" in answer.text
