"""Connections that never become a request cost no memory and end."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
import pytest_asyncio
import uvicorn

from app.edge import protocol
from tests.contract.requirements import proves

GET = b"GET / HTTP/1.1\r\nHost: x\r\n"


async def _echo_headers(scope, receive, send):
    while (await receive()).get("more_body"):
        pass
    body = b"\n".join(name for name, _ in scope["headers"])
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@pytest_asyncio.fixture
async def port(monkeypatch):
    """A server of the protocol, whose patience is short."""
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.3)
    monkeypatch.setattr(protocol, "BODY_SECONDS", 0.8)
    monkeypatch.setattr(protocol, "BODY_RATE", 100)
    config = uvicorn.Config(_echo_headers, http=protocol.BoundedProtocol, lifespan="off", log_config=None)
    config.load()
    state = uvicorn.Server(config).server_state
    made = lambda: protocol.BoundedProtocol(config, state, {})  # noqa: E731
    async with await asyncio.get_running_loop().create_server(made, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


async def _exchange(port, *parts, pause=0.0):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    with contextlib.suppress(ConnectionError):
        for part in parts:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(pause)
    answer = b""
    with contextlib.suppress(ConnectionError):
        async with asyncio.timeout(3):
            while part := await reader.read(65_536):
                answer += part
    writer.close()
    return answer


@pytest.mark.parametrize("sent", [b"", b"GET", GET, b"POST / HTTP/1.1\r\nX-A: b"])
async def test_a_head_that_does_not_come_is_not_waited_for(port, sent):
    assert await _exchange(port, sent) == b""


async def test_a_slow_trickle_of_headers_is_cut_off(port):
    assert await _exchange(port, GET, *[b"X-A: b\r\n"] * 10, b"\r\n", pause=0.1) == b""


async def test_a_body_may_take_longer_than_a_head(port):
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\nConnection: close\r\n\r\n"
    assert (await _exchange(port, head, b"abc", b"", b"def", pause=0.2)).startswith(b"HTTP/1.1 200")


POST = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"


@proves("SLOW-BODY")
@pytest.mark.parametrize(
    ("head", "part"),
    [(b"Content-Length: 1000\r\n\r\n", b"a"), (b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n")],
)
async def test_a_body_that_trickles_is_answered_408(port, head, part):
    started = asyncio.get_running_loop().time()
    answer = await _exchange(port, POST + head, *[part] * 7, pause=0.1)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert answer.endswith(b"The body of the request came too slowly")
    assert asyncio.get_running_loop().time() - started < 3


@proves("SLOW-BODY")
async def test_a_body_that_never_comes_is_answered_408(port):
    assert (await _exchange(port, POST + b"Content-Length: 5\r\n\r\n", pause=1.2)).startswith(b"HTTP/1.1 408 ")


@proves("SLOW-BODY")
async def test_a_slow_but_steady_body_arrives(port):
    head = POST + b"Content-Length: 600\r\n\r\n"
    answer = await _exchange(port, head, *[b"a" * 30] * 20, pause=0.1)  # two seconds, at 300 bytes in each
    assert answer.startswith(b"HTTP/1.1 200 ")


async def test_after_a_slow_body_the_next_request_has_its_own_time(port):
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n"
    parts = [head + b"a", b"a", head + b"a", b"a", head + b"a", b"a", GET + b"Connection: close\r\n\r\n"]
    assert (await _exchange(port, *parts, pause=0.2)).count(b"HTTP/1.1 200") == 4


def test_the_answer_is_as_long_as_it_says():
    head, _, body = protocol._TIMEOUT.partition(b"\r\n\r\n")
    assert f"content-length: {len(body)}".encode() in head


@pytest.mark.parametrize("part", [b"X-A: " + b"a" * 10_000 + b"\r\n", b"X-A: " + b"a" * 10_000])
async def test_endless_headers_are_refused(port, part):
    answer = await _exchange(port, GET, *[part] * 200)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 400")


async def test_trailers_never_become_headers(port):
    head = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    answer = await _exchange(port, head + b"1\r\na\r\n0\r\nIf-Match: *\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200")
    assert b"if-match" not in answer


async def test_one_connection_serves_many_requests(port):
    last = GET + b"Connection: close\r\n\r\n"
    assert (await _exchange(port, GET + b"\r\n", GET + b"\r\n" + GET + b"\r\n", last)).count(b"HTTP/1.1 200") == 4
