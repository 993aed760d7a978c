"""A tag holds no comma: lists of tags are divided by commas. Old tags that do stay until somebody changes them."""

from __future__ import annotations

import html
import re

import pytest

from app.edge.web.forms import tag_text, tags_of
from tests.contract.requirements import proves
from tests.support import archives
from tests.support.examples import example
from tests.support.faces import KEY_FACES, label
from tests.support.rows import checksum
from tests.support.visitor import hidden, signed_in

TAKES_TAGS = [face for face in KEY_FACES if face.operation.writes and "tags" in face.operation.args.model_fields]
OLD = ["north, south", "sea"]
SET = {
    "documents": (
        "UPDATE documents SET tags = $2 WHERE id = $1",
        "UPDATE document_revisions SET tags = $2 WHERE document_id = $1",
        """INSERT INTO document_tags (workspace_id, tag, document_id)
           SELECT workspace_id, unnest($2::text[]), id FROM documents WHERE id = $1""",
    ),
    "prompts": ("UPDATE prompts SET tags = $2 WHERE id = $1",),
    "collections": ("UPDATE collections SET tags = $2 WHERE id = $1",),
}


def test_the_faces_that_take_tags_are_those_of_all_kinds():
    assert {face.operation.name for face in TAKES_TAGS} >= {
        *(f"{kind}.{what}" for kind in ("documents", "prompts", "collections") for what in ("create", "update")),
        "documents.scrape",
        "documents.upload",
    }


@pytest.mark.parametrize("tags", ['["a", "b, c"]', '["\\u2003"]'], ids=["a comma", "blank"])
@pytest.mark.parametrize("face", TAKES_TAGS, ids=label)
@proves("TAG-COMMA")
async def test_no_write_takes_such_a_tag(face, tags, alice, make, sql):
    args = await example(face, make, alice)
    before = await checksum(sql, alice.workspace_id)
    outcome = await face.call(alice.client, args | {"tags": tags})
    assert (outcome.status, outcome.reason) == (400, "INVALID_REQUEST"), outcome.text
    assert re.search("tags.*(comma|blank)", outcome.body["error"]["message"])
    assert await checksum(sql, alice.workspace_id) == before


@proves("TAG-COMMA")
async def test_an_item_of_a_batch_is_refused_and_the_others_are_kept(alice):
    items = [{"op": "create", "title": tags[0], "content": "x", "tags": tags} for tags in (["a,b"], ["ab"])]
    answer = (await alice.client.post("/v1/documents:batch", json={"items": items})).json()["data"]
    assert [one["status"] for one in answer] == [400, 201]
    assert "comma" in answer[0]["error"]["message"]


@proves("TAG-COMMA")
async def test_blanks_around_a_tag_are_left_out_so_that_a_list_finds_it(alice, make):
    made = await make.document(alice.client, tags=[" sea ", "sea", "deep sea"])
    found = (await alice.client.get("/v1/documents", params={"tags": "sea,deep sea"})).json()["data"]
    assert [(one["id"], one["tags"]) for one in found] == [(made["id"], ["sea", "deep sea"])]


@pytest.fixture
def old(alice, make, sql):
    """Make an item whose tags were taken before commas were refused."""

    async def make_old(kind):
        made = await getattr(make, kind[:-1])(alice.client)
        for statement in SET[kind]:
            await sql.execute(statement, made["id"], OLD)
        return made["id"]

    return make_old


def shown_form(answer):
    """What a browser would send of the page's editor: each of its fields as it stands."""
    form = re.search(r'<form method="post"[^>]*/edit".*?</form>', answer.text, re.DOTALL)[0]
    fields = dict(re.findall(r'<input[^>]* name="([\w.]+)"[^>]* value="([^"]*)"', form))
    fields |= dict(re.findall(r'<textarea[^>]* name="(\w+)"[^>]*>\n?(.*?)</textarea>', form, re.DOTALL))
    return {name: html.unescape(value) for name, value in fields.items()}


@pytest.mark.parametrize("kind", SET)
@proves("TAG-COMMA")
async def test_a_form_that_changes_something_else_keeps_old_tags(service, alice, make, old, kind):
    item = await old(kind)
    person = await signed_in(service, make, alice)
    here = f"/dashboard/{kind}/{item}/edit"
    page = await person.get(here)
    named = "name" if kind == "collections" else "title"
    fields = hidden(page, here) | shown_form(page)
    assert fields["tags"] == "north, south, sea"
    color = {"color": ""} if kind == "collections" else {}
    answer = await person.send(here, fields | color | {named: "Another", "action": "save"})
    assert answer.status_code == 303, answer.text
    read = (await alice.client.get(f"/v1/{kind}/{item}")).json()["data"]
    assert (read[named], read["tags"]) == ("Another", OLD)
    page = await person.get(here)
    fields = hidden(page, here) | shown_form(page) | color | {"action": "save"}
    refused = await person.send(here, fields | {"tags": "north, south, sea, more"})
    assert refused.status_code == 400
    assert "hold commas" in refused.text
    assert (await person.send(here, fields | {"tags": "north, more"})).status_code == 303
    assert (await alice.client.get(f"/v1/{kind}/{item}")).json()["data"]["tags"] == ["north", "more"]


@pytest.mark.parametrize("kind", SET)
@proves("TAG-COMMA")
async def test_an_old_tag_is_found_by_a_json_array(alice, old, kind):
    item = await old(kind)
    found = (await alice.client.get(f"/v1/{kind}", params={"tags": '["north, south"]'})).json()["data"]
    assert [one["id"] for one in found] == [item]


async def test_an_archive_brings_old_tags_as_they_were(alice, bob, old, make):
    item = await old("documents")
    await archives.load(bob.client, archives.files(await archives.export(make, alice)))
    assert (await bob.client.get(f"/v1/documents/{item}")).json()["data"]["tags"] == OLD


@pytest.mark.parametrize("before", [[], ["a"], OLD, [" blank", "a,b", "a,b,c", "a"], ["x,", " "]])
def test_tags_that_nobody_touched_are_read_as_they_were(before):
    assert tags_of(tag_text(before), before) == before


def test_tags_that_were_edited_keep_those_that_were_left():
    assert tags_of("new, north, south", OLD) == ["new", "north, south"]
    assert tags_of("north,south , sea,x", OLD) == ["north, south", "sea", "x"]
    assert tags_of("north, sea", OLD) == ["north", "sea"]
    assert tags_of("a, b, a", ()) == ["a", "b"]
    assert tags_of("", OLD) == []
