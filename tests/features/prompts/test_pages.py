"""Prompts in the dashboard, by forms alone."""

from __future__ import annotations

import html
import re

import pytest

from tests.contract.requirements import proves
from tests.support.visitor import as_browser, hidden, signed_in

LIST = "/dashboard/prompts"


@pytest.fixture
async def person(service, make, alice):
    return await signed_in(service, make, alice)


async def read(alice, prompt_id):
    return (await alice.client.get(f"/v1/prompts/{prompt_id}")).json()["data"]


@proves("DASH-WRITE")
async def test_a_prompt_is_written_with_its_variables_and_drift_is_shown(person, alice):
    fields = {
        "title": "Greet",
        "description": "Says hello.",
        "content": "Hello ${name}.",
        "tags": "x",
        "action": "save",
    }
    answer = await person.fill(f"{LIST}/new", **fields)
    assert answer.status_code == 303
    here = answer.headers["location"]
    shown = await person.get(here)
    assert "${name}" in shown.text
    declared = {"var.0.name": "name", "var.0.type": "string", "var.0.description": "Whom", "var.1.name": "count"}
    fields |= {"content": "Hello ${name} and ${other}.", "var.1.type": "integer"}
    assert (await person.fill(f"{here}/edit", **(fields | declared))).status_code == 303
    stored = await read(alice, here.rpartition("/")[2])
    assert [(one["name"], one["type"]) for one in stored["variables"]] == [("name", "string"), ("count", "integer")]
    shown = await person.get(here)
    assert "not declared: other" in shown.text
    assert "count" in shown.text


async def test_variables_that_nobody_touched_stay_those_of_the_text(person, make, alice):
    prompt = await make.prompt(alice.client, content="Say ${what}.")
    here = f"{LIST}/{prompt['id']}/edit"
    shown = await person.get(here)
    rows = re.findall(r'name="(var\.\d+\.\w+)" value="([^"]*)"', shown.text)
    fields = hidden(shown, here) | dict(rows) | {"var.0.type": "string", "title": prompt["title"], "tags": ""}
    fields |= {"description": prompt["description"], "content": "Say ${what} to ${whom}.", "action": "save"}
    assert (await person.send(here, fields)).status_code == 303
    stored = await read(alice, prompt["id"])
    assert [one["name"] for one in stored["variables"]] == ["what", "whom"]
    assert stored.get("warnings", []) == []


@proves("DASH-CONFLICT")
async def test_a_prompt_that_was_changed_meanwhile_is_merged_and_never_overwritten(person, make, alice):
    base = "one\n\ntwo\n\nthree\n"
    prompt = await make.prompt(alice.client, content=base)
    here = f"{LIST}/{prompt['id']}/edit"
    shown = hidden(await person.get(here), here)
    theirs = base.replace("three", "THREE")
    assert (await alice.client.patch(f"/v1/prompts/{prompt['id']}", json={"content": theirs})).status_code == 200
    fields = {"title": prompt["title"], "description": prompt["description"], "tags": "", "action": "save"}
    answer = await person.send(here, shown | fields | {"content": as_browser(base.replace("one", "ONE"))})
    assert answer.status_code == 409
    assert (await read(alice, prompt["id"]))["content"] == theirs
    merged = html.unescape(re.search(r"<textarea id=\"f-content\"[^>]*>\n(.*?)</textarea>", answer.text, re.DOTALL)[1])
    assert merged == "ONE\n\ntwo\n\nTHREE\n"
    again = hidden(answer, here) | fields | {"content": as_browser(merged)}
    assert (await person.send(here, again)).status_code == 303
    assert (await read(alice, prompt["id"]))["content"] == merged


@proves("DASH-HISTORY")
async def test_labels_move_and_versions_are_compared_and_restored(person, make, alice):
    prompt = await make.prompt(alice.client, content="first\n")
    here = f"{LIST}/{prompt['id']}"
    await alice.client.patch(f"/v1/prompts/{prompt['id']}", json={"content": "second\n"})
    shown = await person.get(f"{here}/versions")
    labels = re.findall(rf'action="({here}/versions/[^"]+/label)"', shown.text)
    assert (await person.send(labels[1], hidden(shown, labels[1]) | {"label": "production"})).status_code == 303
    assert "first" in (await person.get(f"{here}?label=production")).text
    refused = await person.send(labels[1], hidden(shown, labels[1]) | {"label": "v2"})
    assert refused.status_code == 400
    assert "look like a version" in refused.text
    diff = await person.get(f"{here}/diff?from=1&to=2")
    assert "first" in diff.text
    assert "second" in diff.text
    assert (await person.get(f"{here}/diff?from=1&to=9")).status_code == 404
    back = re.search(rf'action="({here}/versions/[^"]+/restore)"', shown.text)[1]
    assert (await person.send(back, hidden(shown, back))).status_code == 303
    assert (await read(alice, prompt["id"]))["content"] == "first\n"
    gone = await person.fill(f"{here}/versions", f"{here}/unlabel")
    assert gone.status_code == 303


@proves("DASH-LISTS")
async def test_prompts_are_narrowed_archived_and_changed_at_once(person, make, alice):
    made = [await make.prompt(alice.client, title=f"Prompt {n}", tags=["even"] if n % 2 == 0 else []) for n in range(4)]
    assert (await person.get(f"{LIST}?tag=even")).text.count('class="item"') == 2
    here = f"{LIST}/{made[0]['id']}"
    assert (await person.fill(here, f"{here}/archive")).status_code == 303
    assert (await person.get(LIST)).text.count('class="item"') == 3
    assert (await person.get(f"{LIST}?archived=all")).text.count('class="item"') == 4
    collection = await make.collection(alice.client)
    token = hidden(await person.get(LIST), f"{LIST}/bulk")
    chosen = {f"item.{made[1]['id']}": "on", f"item.{made[2]['id']}": "on"}
    for action, more in (("collect", {"collection": collection["id"]}), ("tag", {"tag": "fresh"})):
        assert (await person.send(f"{LIST}/bulk", token | chosen | more | {"action": action})).status_code == 303
    assert (await person.get(f"{LIST}?collection={collection['id']}&tag=fresh")).text.count('class="item"') == 2
    assert (await person.send(f"{LIST}/bulk", token | chosen | {"action": "delete"})).status_code == 303
    assert (await person.get(LIST)).text.count('class="item"') == 1
