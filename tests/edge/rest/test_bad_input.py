"""What clients should not send: the right refusal in the envelope, never a 500, and nothing changed."""

from __future__ import annotations

import gzip
import json
import re
import uuid

import pytest

from tests.contract.requirements import proves
from tests.support.faces import RestFace, caller, rest_faces
from tests.support.rows import checksum

MIB = 1024 * 1024
JSON = {"content-type": "application/json"}
WITH_BODY = [face for face in rest_faces() if face.has_body and face.binding.file is None]


def assert_refused(answer, *statuses):
    error = answer.json()["error"]
    assert answer.status_code in statuses, answer.text
    assert error.keys() == {"code", "reason", "message", "details", "requestId"}
    assert error["code"] == answer.status_code
    assert error["requestId"] == answer.headers["x-request-id"]
    assert "Traceback" not in answer.text
    return error


async def send(client, face: RestFace, **options):
    """Send to the face's path with ids that name nothing."""
    path = face.rest.path
    for name in face.binding.path_names:
        path = path.replace(f"{{{name}}}", str(uuid.uuid4()))
    return await client.request(face.rest.method, path, **options)


BODIES = {
    "half": b'{"title": ',
    "nothing but a space": b" ",
    "array": b"[]",
    "array of objects": b'[{"title": "T", "content": "c"}]',
    "text": b'"title"',
    "number": b"1",
    "null": b"null",
    "not UTF-8": b'{"title": "\xff\xfe", "content": "c"}',
    "cut UTF-8": b'{"title": "\xc3", "content": "c"}',
    "encoded surrogate": b'{"title": "\xed\xa0\x80", "content": "c"}',
    "UTF-16": '{"title": "T", "content": "c"}'.encode("utf-16"),
    "byte order mark": b'\xef\xbb\xbf{"title": "T", "content": "c"}',
    "two objects": b'{"title": "T"} {"title": "T"}',
    "trailing comma": b'{"title": "T",}',
    "comment": b'{"title": "T" /* why */}',
    "NaN": b'{"title": NaN}',
    "Infinity": b'{"expectedRevision": Infinity}',
    "single quotes": b"{'title': 'T'}",
    "deep array": b'{"title": ' + b"[" * 10_000 + b"]" * 10_000 + b"}",
    "deep object": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "unclosed depth": b"[" * 1_000_000,
    "many members": json.dumps({f"key{n}": n for n in range(100_000)}).encode(),
    "form": b"title=T&content=c",
    "XML": b"<title>T</title>",
    "NUL byte": b'{"title": "a\x00b", "content": "c"}',
    "escaped NUL": b'{"title": "a\\u0000b", "content": "c"}',
    "NUL in a member's name": b'{"ti\\u0000tle": "a", "content": "c"}',
    "lone surrogate": b'{"title": "\\ud800", "content": "c"}',
    "reversed surrogates": b'{"title": "\\udc00\\ud800", "content": "c"}',
    "surrogate in a member's name": b'{"\\udfff": "a", "content": "c"}',
    "huge integer": b'{"expectedRevision": ' + b"9" * 100_000 + b"}",
    "huge exponent": b'{"expectedRevision": 1e400}',
}


@pytest.mark.parametrize("face", WITH_BODY, ids=lambda face: face.label)
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
@proves("ERR-400", "ENV-ERROR", "ERR-500")
async def test_a_body_that_cannot_be_understood_is_refused(alice, make, face, body):
    assert_refused(await send(await caller(face, alice, make), face, content=body, headers=JSON), 400)


@pytest.mark.parametrize("face", WITH_BODY, ids=lambda face: face.label)
async def test_an_empty_body_stands_for_an_empty_object(alice, make, face):
    empty = await send(await caller(face, alice, make), face, content=b"", headers=JSON)
    braces = await send(await caller(face, alice, make), face, content=b"{}", headers=JSON)
    assert empty.status_code == braces.status_code
    if any(field.is_required() for field in face.args.model_fields.values()):
        assert empty.status_code in (400, 404)


CREATE = {"title": "T", "content": "c", "tags": ["a"]}
BAD_FIELDS = [
    *[("title", value) for value in (None, 1, True, 1.5, [], {}, "", " ", "\n\t", "x" * 501)],
    *[("content", value) for value in (None, 1, False, [], {}, ["text"])],
    *[("tags", value) for value in (None, 1, {}, [1], [None], [True], [""], ["x" * 101], ["a\nb"], ["a\x7f"], [["a"]])],
    ("tags", [f"tag {number}" for number in range(101)]),
    ("tags", "[" * 100_000),
    ("tags", '["\\ud800"]'),
    ("tags", '["a\\u0000"]'),
    ("tags", '{"a": 1}'[:1] + "\x01"),
    *[
        (name, "x")
        for name in ("id", "revision", "workspaceId", "workspace_id", "owner", "isAdmin", "Title", "__class__")
    ],
    ("isPublic", True),
    ("", "x"),
]


@pytest.mark.parametrize(("name", "value"), BAD_FIELDS, ids=lambda value: repr(value)[:40])
@proves("ERR-400")
async def test_create_refuses_a_field_that_is_wrong_and_names_it(alice, sql, name, value):
    before = await checksum(sql, alice.workspace_id)
    error = assert_refused(await alice.client.post("/v1/documents", json=CREATE | {name: value}), 400)
    assert error["reason"] == "INVALID_REQUEST"
    assert error["details"][0]["field"].split(".")[0] == (name or "body")
    assert await checksum(sql, alice.workspace_id) == before


@pytest.mark.parametrize(
    ("name", "value"), [*BAD_FIELDS, ("changeLog", 1), ("changeLog", "x" * 2001)], ids=lambda value: repr(value)[:40]
)
@proves("ERR-400")
async def test_update_refuses_a_field_that_is_wrong(alice, make, sql, name, value):
    made = await make.document(alice.client)
    before = await checksum(sql, alice.workspace_id)
    assert_refused(await alice.client.patch(f"/v1/documents/{made['id']}", json={name: value}), 400)
    assert await checksum(sql, alice.workspace_id) == before


NO_TAG = "a tag must not hold commas, which stand between tags, or control characters"


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("title", " ", "must hold more than blanks"),
        ("title", None, "must not be null; leave it out to keep it"),
        ("tags", None, "must not be null; leave it out to keep it"),
        ("tags", ["a\nb"], NO_TAG),
        ("tags", ["a,b"], NO_TAG),
        ("tags", '["a, b"]', NO_TAG),
        ("tags", ["\u3000 "], "must not be blank"),
        ("titel", "x", "unknown field; remove it"),
        ("If-Match", "r1", 'must be * or a list of quoted entity tags, such as "r3-0123456789abcdef"'),
    ],
)
@proves("ERR-400")
async def test_a_refusal_names_the_field_and_says_what_is_wrong_in_words(alice, make, field, value, words):
    made = await make.document(alice.client)
    sent = {"headers": {field: value}, "json": {}} if field == "If-Match" else {"json": {field: value}}
    error = assert_refused(await alice.client.patch(f"/v1/documents/{made['id']}", **sent), 400)
    named = error["details"][0]
    assert (named["field"].split(".")[0], named["message"]) == (field, words)
    assert error["message"] == f"{named['field']}: {words}"


@proves("ERR-400")
async def test_an_id_that_is_none_is_refused_in_words(alice, make):
    made = await make.document(alice.client)
    answer = await alice.client.post(f"/v1/documents/{made['id']}/restore", json={"versionId": "v1"})
    assert assert_refused(answer, 400)["message"].startswith("versionId: not an id; take it from a list")


async def test_fields_of_older_clients_are_ignored(alice):
    answer = await alice.client.post("/v1/documents", json=CREATE | {"engine": "x", "workspace": "y"})
    assert answer.status_code == 201


async def test_the_limits_of_fields_are_inclusive(alice):
    body = {"title": "x" * 500, "content": "c", "tags": ["y" * 100, *[f"tag {n}" for n in range(99)]]}
    assert (await alice.client.post("/v1/documents", json=body)).status_code == 201


@pytest.mark.parametrize(
    "media_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/xml",
        "json",
        ";",
    ],
)
@proves("ENV-TYPE")
async def test_another_media_type_is_refused(alice, media_type):
    answer = await alice.client.post("/v1/documents", content=json.dumps(CREATE), headers={"content-type": media_type})
    assert assert_refused(answer, 415)["reason"] == "UNSUPPORTED_MEDIA_TYPE"


@pytest.mark.parametrize(
    "media_type", ["application/json; charset=utf-8", "APPLICATION/JSON", "application/merge-patch+json", None]
)
@proves("ENV-TYPE")
async def test_json_is_taken_however_it_is_named(alice, media_type):
    headers = {"content-type": media_type} if media_type else {}
    assert (await alice.client.post("/v1/documents", content=json.dumps(CREATE), headers=headers)).status_code == 201


async def chunks(size):
    yield b'{"title": "T", "content": "'
    for _ in range(size // MIB):
        yield b"x" * MIB
    yield b'"}'


@proves("ERR-413")
async def test_a_body_over_the_limit_is_refused_declared_or_not(alice):
    declared = await alice.client.post("/v1/documents", content=b"x" * (10 * MIB + 1), headers=JSON)
    chunked = await alice.client.post("/v1/documents", content=chunks(10 * MIB), headers=JSON)
    for answer in (declared, chunked):
        error = assert_refused(answer, 413)
        assert (error["reason"], error["details"]) == ("PAYLOAD_TOO_LARGE", {"limitBytes": 10 * MIB})


async def test_a_declared_length_is_refused_before_the_body_is_read(alice):
    async def never():
        raise AssertionError("the body was read")
        yield b""

    answer = await alice.client.post("/v1/documents", content=never(), headers=JSON | {"content-length": str(11 * MIB)})
    assert_refused(answer, 413)


async def test_a_body_just_below_the_limit_is_stored(alice):
    body = json.dumps({"title": "T", "content": ""}).encode()
    content = "x" * (10 * MIB - len(body))
    answer = await alice.client.post("/v1/documents", json={"title": "T", "content": content}, headers=JSON)
    assert answer.status_code == 201
    read = await alice.client.get(answer.headers["location"])
    assert read.json()["data"]["content"] == content


NASTY = [
    "%00",
    "a%00b",
    "%ED%A0%80",
    "%ff%fe",
    "%C3",
    "..%2f..%2fetc",
    "%0d%0aX-Evil:1",
    "'%20OR%201=1",
    "%F0%9F%92%A9",
]


@pytest.mark.parametrize("text", NASTY)
@pytest.mark.parametrize("face", [f for f in rest_faces() if f.binding.path_names], ids=lambda face: face.label)
@proves("ERR-500")
async def test_odd_bytes_in_a_path_are_no_id(alice, make, face, text):
    path = face.rest.path
    for name in face.binding.path_names:
        path = path.replace(f"{{{name}}}", text)
    options = {"json": {"versionId": str(uuid.uuid4())} if path.endswith("restore") else {}} if face.has_body else {}
    answer = await (await caller(face, alice, make)).request(face.rest.method, path, **options)
    assert_refused(answer, 400, 404)
    assert "x-evil" not in answer.headers


@pytest.mark.parametrize("text", NASTY)
@pytest.mark.parametrize("name", ["search", "tags", "cursor", "limit", "collectionId", "unknown"])
@proves("ERR-500")
async def test_odd_bytes_in_a_query_are_refused_or_find_nothing(alice, name, text):
    answer = await alice.client.get(f"/v1/documents?{name}={text}")
    if answer.status_code != 200:
        assert_refused(answer, 400, 404)
    else:
        assert answer.json()["data"] == []


@pytest.mark.parametrize("query", ["limit=1&limit=2", "tags=a&tags=b", "search=a&search=a"])
async def test_a_repeated_query_parameter_is_refused(alice, query):
    assert_refused(await alice.client.get(f"/v1/documents?{query}"), 400)


@pytest.mark.parametrize("query", ["unknown=1", "Limit=1", "workspace_id=1", "limit%20=1", "=1"])
async def test_an_unknown_query_parameter_is_refused(alice, query):
    assert_refused(await alice.client.get(f"/v1/documents?{query}"), 400)


async def test_a_query_on_a_write_with_a_body_is_refused(alice):
    error = assert_refused(await alice.client.post("/v1/documents?title=T", json=CREATE), 400)
    assert "title" in error["message"]


async def test_thousands_of_query_parameters_are_refused(alice):
    query = "&".join(f"p{number}=1" for number in range(5_000))
    assert_refused(await alice.client.get(f"/v1/documents?{query}"), 400)


async def test_a_header_argument_in_the_body_is_refused(alice, make):
    made = await make.document(alice.client)
    answer = await alice.client.patch(f"/v1/documents/{made['id']}", json={"ifMatch": made["etag"], "title": "New"})
    assert_refused(answer, 400)


async def test_an_id_in_the_body_beside_the_path_is_refused(alice, make):
    made = await make.document(alice.client)
    answer = await alice.client.patch(f"/v1/documents/{made['id']}", json={"documentId": made["id"], "title": "New"})
    assert_refused(answer, 400)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/v1/documents/{id}", {"GET", "PATCH", "DELETE"}),
        ("POST", "/v1/documents/{id}", {"GET", "PATCH", "DELETE"}),
        ("DELETE", "/v1/documents", {"GET", "POST"}),
        ("PATCH", "/v1/user/me", {"GET"}),
        ("POST", "/livez", {"GET"}),
        ("TRACE", "/v1/documents", {"GET", "POST"}),
        ("PROPFIND", "/v1/documents", {"GET", "POST"}),
        ("BREW", "/openapi.json", {"GET"}),
    ],
)
@proves("ERR-405")
async def test_another_method_is_405_and_says_what_the_path_takes(alice, method, path, allowed):
    answer = await alice.client.request(method, path.replace("{id}", str(uuid.uuid4())))
    assert assert_refused(answer, 405)["reason"] == "METHOD_NOT_ALLOWED"
    assert {name.strip() for name in answer.headers["allow"].split(",")} - {"HEAD", "OPTIONS"} == allowed


def taken():
    """Each path of the interface, with what it takes."""
    found = {}
    for face in rest_faces():
        found.setdefault(face.rest.path, set()).add(face.rest.method)
    return found


@pytest.mark.parametrize("path", taken())
@proves("ERR-405")
async def test_no_path_is_read_as_an_id_of_another_by_any_method(alice, path):
    takes = taken()[path]
    here = re.sub(r"\{\w+\}", str(uuid.uuid4()), path)
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE"} - takes:
        answer = await alice.client.request(method, here)
        assert assert_refused(answer, 405)["reason"] == "METHOD_NOT_ALLOWED", method
        assert {name.strip() for name in answer.headers["allow"].split(",")} == takes, method


@pytest.mark.parametrize(
    "path",
    [
        "/v1",
        "/v1/",
        "/v1/documents/",
        "/v1//documents",
        "/v2/documents",
        "/docs-of-old",
        "/redoc",
        "/v1/documents/a/b",
        "/%00",
        "/" + "x" * 10_000,
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
@proves("ERR-404")
async def test_an_unknown_path_is_404_in_the_envelope(http, method, path):
    assert assert_refused(await http.request(method, path), 404)["reason"] == "NOT_FOUND"


async def test_a_refusal_is_short_however_much_is_wrong(alice):
    many = {f"field{number}": "x" * 1000 for number in range(1000)}
    some = {"n" * 100_000: 1, "title": 1, "content": 2}
    for body in (many, some, {"title": "T", "content": "c", "tags": [0] * 90}):
        answer = await alice.client.post("/v1/documents", json=body)
        assert_refused(answer, 400)
        assert len(answer.content) < 8_000


@proves("ENV-TYPE")
@pytest.mark.parametrize("encoding", ["gzip", "br", "Deflate", "identity, gzip"])
async def test_an_encoded_body_is_refused_with_what_is_accepted(alice, encoding):
    sent = JSON | {"content-encoding": encoding}
    answer = await alice.client.post("/v1/documents", content=gzip.compress(json.dumps(CREATE).encode()), headers=sent)
    error = assert_refused(answer, 415)
    assert (error["reason"], error["details"]) == ("UNSUPPORTED_MEDIA_TYPE", {"acceptEncoding": "identity"})
    assert "uncompressed" in error["message"]


async def test_a_body_that_says_it_is_not_encoded_is_taken(alice):
    sent = JSON | {"content-encoding": "Identity"}
    assert (await alice.client.post("/v1/documents", json=CREATE, headers=sent)).status_code == 201
