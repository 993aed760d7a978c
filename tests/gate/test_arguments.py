"""What refusals of arguments say: field by field, in the words of the wire."""

from __future__ import annotations

import re

import pytest

from app.gate.arguments import parse_args
from app.kit.errors import InvalidRequest
from tests.contract.requirements import proves
from tests.support.faces import rest_faces

WRONG = ["nope", 1.5, [], {}, True, None, ["nope"], [{}], [1], {"nope": 1}]
PYTHON = re.compile(r"<\w+[.:]|\binstance of\b|\bdictionary\b|\bNone\b")


def problems(model, raw):
    try:
        parse_args(model, raw)
    except InvalidRequest as refusal:
        return refusal.details or []
    return []


@pytest.mark.parametrize("face", rest_faces(), ids=lambda face: face.label)
@proves("ERR-400")
def test_what_is_wrong_with_a_field_is_said_without_words_of_python(face):
    names = [field.alias or name for name, field in face.args.model_fields.items()]
    found = [problem for name in names for value in WRONG for problem in problems(face.args, {name: value})]
    assert [problem["message"] for problem in found if PYTHON.search(problem["message"])] == []


@proves("ERR-400")
async def test_the_only_value_of_a_field_is_named_as_the_wire_has_it(alice, make):
    made = await make.document(alice.client)
    answer = await alice.client.put(f"/v1/documents/{made['id']}/coordination", json={"policy": "nope"})
    assert answer.status_code == 400
    assert answer.json()["error"]["message"] == "policy: Input should be 'lease_required'"


@proves("ERR-400")
@pytest.mark.parametrize(
    ("sent", "value", "lacking"),
    [
        ("X-ContextRepo-Lease-Id", "some-lease", "X-ContextRepo-Lease-Fence"),
        ("X-ContextRepo-Lease-Fence", "1", "X-ContextRepo-Lease-Id"),
    ],
)
async def test_the_header_that_a_lease_lacks_is_named(alice, make, sent, value, lacking):
    made = await make.document(alice.client)
    answer = await alice.client.patch(f"/v1/documents/{made['id']}", json={"title": "New"}, headers={sent: value})
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert [problem["field"] for problem in error["details"]] == [lacking]
    assert error["message"].startswith(f"{lacking}: ")


@proves("ERR-400")
@pytest.mark.parametrize("fence", ["1.0", "+1", "1_0", "1e0", "٣", "0", "-1", ""])
async def test_a_fence_is_an_integer_in_plain_digits(alice, make, fence):
    made = await make.document(alice.client)
    sent = {"X-ContextRepo-Lease-Id": "some-lease", "X-ContextRepo-Lease-Fence": fence.encode()}
    answer = await alice.client.patch(f"/v1/documents/{made['id']}", json={"title": "New"}, headers=sent)
    assert answer.status_code == 400
    assert [problem["field"] for problem in answer.json()["error"]["details"]] == ["X-ContextRepo-Lease-Fence"]


@proves("ERR-400")
async def test_the_query_that_a_pack_lacks_is_named(alice):
    answer = await alice.client.get("/v1/pack")
    assert answer.status_code == 400
    assert answer.json()["error"]["details"] == [
        {"field": "query", "message": "name a query, a collectionId or a documentId"}
    ]
