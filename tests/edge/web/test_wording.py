"""What refusals say to people: no requests, no headers."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from app.edge.web.forms import BULK
from app.edge.web.wording import BY_REASON, DONE, advice, told
from tests.support.visitor import signed_in

FEATURES = Path(__file__).parents[3] / "app" / "features"
FOR_PROGRAMS = re.compile(r"/v1/|If-Match|Idempotency-Key|X-ContextRepo|expectedRevision")
WITH_PAGES = sorted(path.parent.name for path in FEATURES.glob("*/pages.py") if (path.parent / "errors.py").exists())


def texts(feature):
    """The reason and each text of the errors of a feature; texts that are put together give a piece each."""
    tree = ast.parse((FEATURES / feature / "errors.py").read_text())
    for top in tree.body:
        inside = list(ast.walk(top))
        reasons = [
            node.value.value
            for node in inside
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "reason"
        ]
        notes = {id(node.value) for node in inside if isinstance(node, ast.Expr)}
        for node in inside:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in notes:
                yield (reasons or [""])[0], node.value


@pytest.mark.parametrize("feature", WITH_PAGES)
def test_no_refusal_tells_a_person_of_requests_and_headers(feature):
    found = list(texts(feature))
    assert found
    assert [text for reason, text in found if FOR_PROGRAMS.search(told(reason, text))] == []


def test_the_advice_stays_without_its_path_and_other_words_stay_as_they_are():
    said = "Files like 'a' cannot be read. Send the text with POST /v1/documents instead."
    assert (
        told("UNSUPPORTED_MEDIA_TYPE", said)
        == "Files like 'a' cannot be read. Keep the text as a new document instead."
    )
    step = "Save it in another format, or send its text with POST /v1/documents."
    assert advice(step) == "Save it in another format, or keep its text as a new document."
    assert told("NOT_FOUND", "Export not found. Start one with POST /v1/exports.") == "Export not found. Start one."
    assert told("NOT_FOUND", "It is not here.") == "It is not here."
    assert not any(FOR_PROGRAMS.search(text) for text in BY_REASON.values())


def test_a_field_is_named_in_words_not_by_its_name_on_the_wire():
    assert told("INVALID_REQUEST", "url: must be an address") == "Address: must be an address"
    assert told("INVALID_REQUEST", "changeLog: at most 500") == "Change log: at most 500"
    assert told("INVALID_REQUEST", "tags.3: must hold more than blanks") == "Tags: must hold more than blanks"
    for kept in ("This is no address: look at it.", "Choose a day: https://example.test"):
        assert told("INVALID_REQUEST", kept) == kept


def words():
    """Each word that a page sends the browser on with, and where."""
    for path in FEATURES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "redirect" and len(node.args) > 1:
                yield from (one.value for one in ast.walk(node.args[1]) if isinstance(one, ast.Constant) and one.value)


def test_every_word_of_what_was_done_has_its_sentence():
    sent = set(words()) | set(BULK.values())
    assert len(sent) > 5
    assert sent <= DONE.keys()


async def test_a_page_says_what_was_done_by_a_known_word_alone(service, make, alice):
    person = await signed_in(service, make, alice)
    here = "/dashboard/documents"
    assert f'role="status">{DONE["trashed"]}' in (await person.get(f"{here}?done=trashed")).text
    told = (await person.get(f"{here}?done=<b>mischief</b>")).text
    assert ('role="status"' in told, "mischief" in told) == (False, False)
    assert "No documents yet" in (await person.get(f"{here}?done=trashed")).text
