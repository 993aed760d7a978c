"""The official suite against the product as it is: its own tools, no fixtures of the suite's."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import threading
from urllib.parse import urlsplit

import pytest

pytestmark = [pytest.mark.prove, pytest.mark.timeout(300)]
SCENARIOS = [
    "server-stateless",
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "sep-2164-resource-not-found",
    "dns-rebinding-protection",
    "caching",
    "http-header-validation",
    "input-required-result-unsupported-methods",
]
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


@contextlib.contextmanager
def authorized(url, authorization):
    """A door to the service that adds a credential to every request: the suite cannot send one."""
    target = urlsplit(url)
    line = f"\r\nauthorization: {authorization}\r\n".encode()
    loop, ready, ports = asyncio.new_event_loop(), threading.Event(), []

    async def back(reader, writer):
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def forth(reader, writer):
        from_service, to_service = await asyncio.open_connection(target.hostname, target.port)
        task = asyncio.ensure_future(back(from_service, writer))
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = _LENGTH.search(head)
                body = await reader.readexactly(int(length.group(1)) if length else 0)
                to_service.write(head.replace(b"\r\n", line, 1) + body)
                await to_service.drain()
        to_service.close()
        await task

    async def serve():
        server = await asyncio.start_server(forth, "127.0.0.1", 0)
        ports.append(server.sockets[0].getsockname()[1])
        ready.set()

    def run():
        loop.create_task(serve())
        loop.run_forever()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield f"http://127.0.0.1:{ports[0]}"
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_product_conforms(up, conformance, tmp_path, scenario):
    with authorized(up.url, up.authorization) as door:
        done = conformance("server", "--url", f"{door}/mcp", "--scenario", scenario, "--force", "-o", "results")
    checks = [check for file in tmp_path.rglob("checks.json") for check in json.loads(file.read_text())]
    assert [check for check in checks if check["status"] == "SUCCESS"], done.stdout + done.stderr
    # What needs a tool of the suite's own is reported as a failure that could not be tested.
    failed = [check for check in checks if check["status"] == "FAILURE"]
    wrong = [check for check in failed if not (check.get("details") or {}).get("untestable")]
    assert wrong == []
