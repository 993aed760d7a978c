"""Collections in the dashboard, by forms alone."""

from __future__ import annotations

from tests.contract.requirements import proves
from tests.support.visitor import hidden, signed_in

LIST = "/dashboard/collections"


@proves("DASH-WRITE")
async def test_a_collection_is_made_filled_emptied_edited_and_deleted(service, make, alice):
    person = await signed_in(service, make, alice)
    document, prompt = await make.document(alice.client), await make.prompt(alice.client)
    fields = {"name": "Things", "description": "Of mine", "icon": "\N{CLOSED BOOK}", "color": "#3366cc", "tags": "t"}
    answer = await person.fill(f"{LIST}/new", **fields)
    assert answer.status_code == 303
    here = answer.headers["location"]
    chosen = {f"item.document.{document['id']}": "on", f"item.prompt.{prompt['id']}": "on"}
    assert (await person.fill(f"{here}/add", **chosen)).status_code == 303
    shown = await person.get(here)
    assert "2 members" in shown.text
    assert 'fill="#3366cc"' in shown.text
    taken = hidden(shown, f"{here}/remove") | {f"item.prompt.{prompt['id']}": "on"}
    assert (await person.send(f"{here}/remove", taken)).status_code == 303
    assert "1 member<" in (await person.get(here)).text
    other = fields | {"color": "other", "other": "#123456", "name": "Other things"}
    assert (await person.fill(f"{here}/edit", **other)).status_code == 303
    stored = (await alice.client.get(f"/v1/collections/{here.rpartition('/')[2]}")).json()["data"]
    assert (stored["name"], stored["color"], stored["icon"]) == ("Other things", "#123456", "\N{CLOSED BOOK}")
    assert (await person.get(f"{LIST}?q=other")).text.count('class="item"') == 1
    assert (await person.fill(here, f"{here}/delete")).status_code == 303
    assert (await person.get(here)).status_code == 404


@proves("DASH-CONFLICT")
async def test_a_collection_that_was_changed_meanwhile_keeps_the_draft(service, make, alice):
    person = await signed_in(service, make, alice)
    made = await make.collection(alice.client, name="Before")
    here = f"{LIST}/{made['id']}/edit"
    shown = hidden(await person.get(here), here)
    await alice.client.patch(f"/v1/collections/{made['id']}", json={"name": "Theirs"})
    fields = {"name": "Mine", "description": "", "icon": "", "color": "", "tags": ""}
    answer = await person.send(here, shown | fields)
    assert answer.status_code == 409
    assert "Theirs" in answer.text
    assert 'value="Mine"' in answer.text
    assert (await person.send(here, hidden(answer, here) | fields)).status_code == 303
    assert (await alice.client.get(f"/v1/collections/{made['id']}")).json()["data"]["name"] == "Mine"
