"""The outside world of the tests: a little web server on loopback, which answers what a test told it."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import itertools
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

ARTICLE = """<!doctype html><html lang="en"><head><title>{title}</title>{head}</head><body>
<nav><a href="/">Home</a> <a href="/about">About</a></nav>
<article><h1>{title}</h1>{body}</article><footer>All rights reserved. Cookie settings.</footer></body></html>"""
PARAGRAPH = (
    "<p>The lighthouse keeper wrote down each ship that passed, and when the fog came he rang the bell by hand, "
    "as his father had done before him for more than thirty winters.</p>"
)


@dataclass
class Asked:
    """One request that arrived."""

    path: str
    headers: dict[str, str]


Answer = tuple[int, dict[str, str], bytes]
Say = Callable[[Asked], Any]


@dataclass
class World:
    """Paths and what they answer; `asked` holds all requests in their order."""

    port: int = 0
    asked: list[Asked] = field(default_factory=list)
    _pages: dict[str, Say] = field(default_factory=dict)
    _numbers: Any = field(default_factory=itertools.count)

    @property
    def authority(self) -> str:
        return f"127.0.0.1:{self.port}"

    def url(self, path: str) -> str:
        return f"http://{self.authority}{path}"

    def answer(self, say: Say | Answer, path: str | None = None) -> str:
        """Let a new path answer, or a named one; returns its address."""
        path = path or f"/page-{next(self._numbers)}"
        self._pages[path] = say if callable(say) else lambda _asked: say
        return self.url(path)

    def serve(self, title: str, body: str = PARAGRAPH, head: str = "", **headers: str) -> str:
        """Serve an article; returns its address."""
        return self.answer(article(title, body, head, **headers))

    def requests(self, url: str) -> list[Asked]:
        """The requests for an address."""
        return [asked for asked in self.asked if self.url(asked.path) == url]

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield
        finally:
            server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
            asked = Asked(head[0].split(" ")[1], headers)
            self.asked.append(asked)
            said = self._pages.get(asked.path, lambda _asked: (404, {}, b"nothing here"))(asked)
            status, sent, body = await said if inspect.isawaitable(said) else said
            lines = [f"HTTP/1.1 {status} Said", f"content-length: {len(body)}", "connection: close"]
            lines += [f"{name}: {value}" for name, value in sent.items()]
            writer.write("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
            await writer.drain()
        writer.close()


def article(title: str, body: str = PARAGRAPH, head: str = "", **headers: str) -> Answer:
    """Write an HTML page with navigation and footer around an article."""
    html = ARTICLE.format(title=title, body=body, head=head).encode()
    sent = {"content-type": "text/html; charset=utf-8"} | {k.replace("_", "-"): v for k, v in headers.items()}
    return 200, sent, html


WORLD = World()
"""The world of this process; `conftest.py` lets it run."""
