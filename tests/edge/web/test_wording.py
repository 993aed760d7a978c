"""What refusals say to people: no requests, no headers."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from app.edge.web.wording import BY_REASON, advice, told

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
