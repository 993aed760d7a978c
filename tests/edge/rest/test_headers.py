"""What stands around every answer: request id, security headers, CORS, and nothing of our faults."""

from __future__ import annotations

import asyncio
import logging

import pytest

from app.edge.errors import STATUS
from app.kit.errors import AppError, Kind
from tests.contract.requirements import proves
from tests.support.faces import rest_faces


@pytest.mark.parametrize("path", ["/livez", "/readyz", "/openapi.json", "/v1/user/me", "/v1/documents", "/nowhere"])
async def test_every_answer_has_the_standing_headers(http, path):
    answer = await http.get(path)
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in answer.headers
    assert "server" not in answer.headers
    assert len(answer.headers.get_list("x-request-id")) == 1


async def test_a_request_id_is_taken_over_when_it_is_sound(http):
    assert (await http.get("/livez", headers={"x-request-id": "abc.DEF-123_"})).headers[
        "x-request-id"
    ] == "abc.DEF-123_"
    for odd in ("short", "x" * 65, "a b c d e f", "<script>alert(1)</script>"):
        assert (await http.get("/livez", headers={"x-request-id": odd})).headers["x-request-id"] != odd


@pytest.mark.parametrize("origin", ["https://evil.test", "null"])
@proves("ENV-CORS")
async def test_a_preflight_is_204_with_the_methods_and_headers_that_clients_need(http, origin):
    headers = {"origin": origin, "access-control-request-method": "PATCH"}
    answer = await http.options("/v1/documents/x", headers=headers)
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["access-control-max-age"] == "86400"
    methods = answer.headers["access-control-allow-methods"]
    assert all(method in methods for method in ("GET", "POST", "PUT", "PATCH", "DELETE"))
    allowed = answer.headers["access-control-allow-headers"].lower()
    for name in ("authorization", "content-type", "if-match", "idempotency-key", "x-contextrepo-lease-id"):
        assert name in allowed


@proves("ENV-CORS")
async def test_options_without_an_origin_is_204_and_says_what_the_path_takes(http):
    answer = await http.options("/v1/documents")
    assert (answer.status_code, answer.content, answer.headers["allow"]) == (204, b"", "GET, POST")
    assert (await http.options("/nowhere")).status_code == 404


async def test_pages_may_read_the_headers_of_the_contract(alice):
    exposed = (await alice.client.get("/v1/documents")).headers["access-control-expose-headers"].lower()
    for name in ("etag", "retry-after", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "location"):
        assert name in exposed


def test_every_kind_of_error_has_a_status():
    assert STATUS.keys() == set(Kind)


def subclasses(base):
    for child in base.__subclasses__():
        yield child
        yield from subclasses(child)


def test_every_reason_is_a_word_for_programs():
    for error in subclasses(AppError):
        assert error.reason == error.reason.upper().replace("-", "_")
        assert error.__doc__


@proves("ERR-500")
@pytest.mark.parametrize(
    "error", [RuntimeError("secret cause"), ValueError("SELECT secret"), KeyError("secret"), RecursionError()]
)
async def test_a_fault_of_ours_is_a_500_without_its_cause(alice, service, monkeypatch, caplog, error):
    async def run(*args, **kwargs):
        raise error

    monkeypatch.setattr(service.state.gate, "run", run)
    with caplog.at_level(logging.ERROR):
        answer = await alice.client.get("/v1/documents")
    body = answer.json()["error"]
    assert (answer.status_code, body["reason"], body["details"]) == (500, "INTERNAL", None)
    assert "secret" not in answer.text
    assert answer.headers["x-request-id"] in body["message"]
    assert any(record.exc_info for record in caplog.records)


async def test_a_client_that_leaves_gets_no_answer_and_leaves_nothing_behind(alice, service):
    messages = []

    async def receive():
        return {"type": "http.disconnect"}

    async def send(message):
        messages.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/documents",
        "raw_path": b"/v1/documents",
        "query_string": b"",
        "root_path": "",
        "scheme": "http",
        "server": ("service.test", 80),
        "client": ("127.0.0.1", 1),
        "headers": [(b"authorization", f"API-Key {alice.key}".encode()), (b"content-type", b"application/json")],
    }
    async with asyncio.timeout(5):
        await service(scope, receive, send)
    assert messages == []
    assert (await alice.client.get("/v1/documents")).json()["data"] == []


def test_every_face_has_a_path_below_v1():
    assert all(face.rest.path.startswith("/v1/") for face in rest_faces())
