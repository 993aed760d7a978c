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


@proves("DASH-HELD")
async def test_an_item_is_put_into_collections_and_taken_out_from_its_own_page(service, make, alice):
    person = await signed_in(service, make, alice)
    items = {"document": await make.document(alice.client), "prompt": await make.prompt(alice.client)}
    for kind, item in items.items():
        page, forms = f"/dashboard/{kind}s/{item['id']}", f"{LIST}/of/{kind}/{item['id']}"
        if kind == "document":
            assert "Make the first" in (await person.get(page)).text
        made = [await make.collection(alice.client, name=f"{name} of a {kind}") for name in ("First", "Second")]
        assert "In none yet." in (await person.get(page)).text
        answer = await person.fill(page, f"{forms}/add", collection=made[0]["id"])
        assert (answer.status_code, answer.headers["location"]) == (303, f"{page}?done=added")
        shown = await person.get(answer.headers["location"])
        assert 'role="status">Added to the collection.' in shown.text
        assert f'<a href="{LIST}/{made[0]["id"]}">' in shown.text
        assert f'<option value="{made[0]["id"]}"' not in shown.text
        assert f'<option value="{made[1]["id"]}"' in shown.text
        held = (await alice.client.get("/v1/collections", params={"itemId": item["id"]})).json()["data"]
        assert [one["name"] for one in held] == [f"First of a {kind}"]
        answer = await person.fill(page, f"{forms}/remove", collection=made[0]["id"])
        assert (answer.status_code, answer.headers["location"]) == (303, f"{page}?done=removed")
        assert f'<a href="{LIST}/{made[0]["id"]}">' not in (await person.get(page)).text
        assert (await person.fill(page, f"{forms}/add", collection="none")).status_code == 404


@proves("DASH-HELD")
async def test_a_viewer_sees_the_collections_of_an_item_and_no_form(service, make, alice):
    document = await make.document(alice.client)
    here = f"/dashboard/documents/{document['id']}"
    viewer = await signed_in(service, make, await make.member(alice.workspace_id, "viewer"))
    assert "p-collections" not in (await viewer.get(here)).text
    made = await make.collection(alice.client, name="Seen by all", items=[document["id"]])
    shown = (await viewer.get(here)).text
    assert f'<a href="{LIST}/{made["id"]}">' in shown
    assert "/dashboard/collections/of/" not in shown
    assert "Take out" not in shown
