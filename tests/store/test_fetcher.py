"""The guarded fetcher against the vectors, and against servers that cheat."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
from ipaddress import ip_address
from pathlib import Path

import pytest

from app.kit.addresses import is_public, parse_target
from app.store.fetcher import Bounds, Fetcher, FetchRefused
from tests.contract.requirements import proves

VECTORS = json.loads((Path(__file__).parents[1] / "data/ssrf/ssrf_urls.json").read_text())
BAD = [vector["url"] for vector in VECTORS if vector["expect"] == "block"]
PLAIN = Bounds(types=frozenset({"text/plain", "application/json"}), max_bytes=1_000_000, seconds=2.0)
_OK = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n"


class Site:
    """A server of raw bytes that counts who comes; `say(path)` gives what it sends."""

    def __init__(self):
        self.say = lambda _path: _OK + b"content-length: 5\r\n\r\nhello"
        self.requests = []
        self.port = 0

    async def serve(self, reader, writer):
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            self.requests.append(head)
            answer = self.say(head.split(b" ")[1].decode())
            if isinstance(answer, bytes):
                writer.write(answer)
            else:
                async for part in answer:
                    writer.write(part)
                    await writer.drain()
            await writer.drain()
        writer.close()


@contextlib.asynccontextmanager
async def site():
    made = Site()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()


def fetcher_of(made, names=None):
    """A fetcher that may reach exactly one address, which every name resolves to unless told otherwise."""
    asked = []

    async def resolve(host, port):
        asked.append(host)
        found = (names or {}).get(host, "127.0.0.1")
        return found if isinstance(found, list) else [found]

    fetcher = Fetcher(resolve, allow=lambda address, port: (str(address), port) == ("127.0.0.1", made.port))
    fetcher.asked = asked
    return fetcher


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["why"])
async def test_each_vector_is_judged_rightly(vector):
    target = parse_target(vector["url"])
    assert (vector["expect"] == "allow") == (
        target is not None
        and target.uses_default_port
        and target.scheme in {"http", "https"}
        and target.literal is not None
        and is_public(target.literal)
    )


@pytest.mark.parametrize("url", BAD)
@proves("FETCH-PUBLIC")
async def test_a_bad_address_is_refused_without_any_connection(url):
    async def resolve(host, port):
        return ["127.0.0.1"]

    with pytest.raises(FetchRefused):
        await Fetcher(resolve).get(url, PLAIN)


@pytest.mark.parametrize("url", BAD)
async def test_a_redirect_to_a_bad_address_is_refused(url):
    location = url.replace("\r", "").replace("\n", "").encode("utf-8", "replace")
    async with site() as made:
        made.say = lambda _path: b"HTTP/1.1 302 Found\r\ncontent-length: 0\r\nlocation: " + location + b"\r\n\r\n"
        with pytest.raises(FetchRefused):
            await fetcher_of(made, {"metadata.google.internal": "169.254.169.254"}).get(
                f"http://site.example:{made.port}/", PLAIN
            )
        # A vector that means our own path again (`http:x`, `//x`) may come back; nothing else is ever reached.
        assert 1 <= len(made.requests) <= 6


async def test_a_document_is_fetched_by_name_from_the_checked_address():
    async with site() as made:
        fetcher = fetcher_of(made)
        found = await fetcher.get(f"http://site.example:{made.port}/a?b=c", PLAIN)
        assert (found.body, found.media_type) == (b"hello", "text/plain")
        head = made.requests[0].lower()
        assert head.startswith(b"get /a?b=c http/1.1\r\n")
        assert f"host: site.example:{made.port}\r\n".encode() in head
        assert b"authorization" not in head
        assert b"cookie" not in head
        assert fetcher.asked == ["site.example"]


async def test_a_name_with_one_private_address_is_refused():
    async with site() as made:
        with pytest.raises(FetchRefused):
            await fetcher_of(made, {"site.example": ["127.0.0.1", "10.0.0.1"]}).get(
                f"http://site.example:{made.port}/", PLAIN
            )
        assert made.requests == []


async def test_a_name_that_changes_its_address_is_asked_once_for_each_hop():
    answers = iter([["93.184.216.34"], ["127.0.0.1"]])
    asked = []

    async def resolve(host, port):
        asked.append(host)
        return next(answers)

    async with site() as canary:
        bounds = Bounds(types=frozenset(), seconds=0.5, connect_seconds=0.3)
        with pytest.raises(FetchRefused):
            await Fetcher(resolve).get("http://rebind.example/", bounds)
        assert asked == ["rebind.example"]
        assert canary.requests == []


async def test_redirects_are_followed_five_times_and_not_six():
    async with site() as made:
        made.say = lambda _path: (
            b"HTTP/1.1 302 Found\r\ncontent-length: 0\r\nlocation: /%d\r\n\r\n" % (int(_path[1:]) - 1)
            if _path != "/0"
            else _OK + b"content-length: 4\r\n\r\ndone"
        )
        fetcher, base = fetcher_of(made), f"http://site.example:{made.port}"
        assert (await fetcher.get(f"{base}/5", PLAIN)).body == b"done"
        with pytest.raises(FetchRefused):
            await fetcher.get(f"{base}/6", PLAIN)
        none = Bounds(types=frozenset({"text/plain"}), redirects=0, seconds=2.0)
        with pytest.raises(FetchRefused):
            await fetcher.get(f"{base}/1", none)


async def test_a_refresh_header_and_a_meta_tag_move_nobody():
    async with site() as made:
        made.say = lambda _path: _OK + b"refresh: 0; url=http://127.0.0.1/\r\ncontent-length: 5\r\n\r\nhello"
        await fetcher_of(made).get(f"http://site.example:{made.port}/", PLAIN)
        assert len(made.requests) == 1


def packed(body, encoding=b"gzip"):
    return (
        _OK + b"content-encoding: " + encoding + b"\r\ncontent-length: " + str(len(body)).encode() + b"\r\n\r\n" + body
    )


async def test_a_packed_document_is_unpacked():
    async with site() as made:
        made.say = lambda _path: packed(gzip.compress(b"hello " * 100))
        assert (await fetcher_of(made).get(f"http://site.example:{made.port}/", PLAIN)).body == b"hello " * 100


@pytest.mark.parametrize(
    "answer",
    [
        packed(gzip.compress(bytes(50_000_000))),
        packed(gzip.compress(bytes(900_000))),
        packed(gzip.compress(gzip.compress(b"x")), b"gzip, gzip"),
        packed(b"x", b"br"),
        packed(gzip.compress(b"cut short" * 100)[:-20]),
        packed(b"no gzip at all"),
        _OK + b"content-length: 2000000\r\n\r\n" + bytes(2_000_000),
        _OK + b"content-length: 500\r\n\r\nshort",
        _OK.replace(b"text/plain", b"text/html") + b"content-length: 2\r\n\r\nhi",
        b"HTTP/1.1 404 Not Found\r\ncontent-type: text/plain\r\ncontent-length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nx: " + b"a" * 2_000_000 + b"\r\n\r\n",
        b"no http at all",
    ],
    ids=[
        "bomb", "ratio", "nested", "other encoding", "cut gzip", "no gzip", "too large", "short body", "type",
        "status", "endless header", "no http",
    ],
)  # fmt: skip
async def test_an_answer_that_cheats_is_refused_with_the_same_words(answer):
    async with site() as made:
        made.say = lambda _path: answer
        with pytest.raises(FetchRefused) as refusal:
            await fetcher_of(made).get(f"http://site.example:{made.port}/", PLAIN)
        assert refusal.value.message == FetchRefused().message


async def test_a_slow_server_is_left_in_time():
    async def drip():
        yield _OK + b"content-length: 100000\r\n\r\n"
        for _ in range(600):
            await asyncio.sleep(0.05)
            yield b"x"

    async with site() as made:
        made.say = lambda _path: drip()
        bounds = Bounds(types=frozenset({"text/plain"}), seconds=0.4)
        began = asyncio.get_running_loop().time()
        with pytest.raises(FetchRefused):
            await fetcher_of(made).get(f"http://site.example:{made.port}/", bounds)
        assert asyncio.get_running_loop().time() - began < 2.0


async def test_proxies_of_the_environment_are_not_used(monkeypatch):
    async with site() as proxy, site() as made:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        await fetcher_of(made).get(f"http://site.example:{made.port}/", PLAIN)
        assert proxy.requests == []


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("::ffff:8.8.8.8", True),
        ("::ffff:10.0.0.1", False),
        ("64:ff9b::808:808", True),
        ("64:ff9b::a00:1", False),
        ("64:ff9b:1::808:808", False),
        ("2002:808:808::", False),
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", False),
    ],
)
def test_ipv4_inside_of_ipv6_is_judged_as_ipv4(address, public):
    assert is_public(ip_address(address)) is public
