"""Where `asOf` is no argument: nothing is read as it was there, and the refusal says what is."""

from __future__ import annotations

import pytest

from tests.contract.requirements import proves
from tests.support.examples import example
from tests.support.faces import KEY_FACES, RestFace, label

WITHOUT = [
    face
    for face in KEY_FACES
    if not face.operation.writes
    and "as_of" not in face.args.model_fields
    and (not isinstance(face, RestFace) or face.rest.method == "GET" or face.has_body)
]
READ_AS_THEY_WERE = {"documents.get", "prompts.get", "search.items"}


def test_documents_prompts_and_their_search_are_read_as_they_were():
    assert {face.operation.name for face in KEY_FACES if "as_of" in face.args.model_fields} == READ_AS_THEY_WERE


@pytest.mark.parametrize("face", WITHOUT, ids=label)
@proves("AS-OF-ELSEWHERE")
async def test_elsewhere_the_refusal_says_what_is(face, alice, make):
    outcome = await face.call(alice.client, await example(face, make, alice) | {"asOf": "2024-01-01T00:00:00Z"})
    assert (outcome.status, outcome.reason) == (400, "INVALID_REQUEST"), outcome.text
    assert outcome.body["error"]["message"].startswith("asOf: documents, prompts and the search for items alone are")
    assert outcome.body["error"]["details"][0]["field"] == "asOf"
