"""A way to the service for programs that cannot send a credential."""

from __future__ import annotations

import asyncio
import contextlib
import re
import threading
from urllib.parse import urlsplit

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


@contextlib.contextmanager
def authorized(url, authorization):
    """Open a door that adds a credential to every request; gives its address."""
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
