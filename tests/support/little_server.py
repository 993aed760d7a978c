"""A little JSON server over HTTP on loopback, for what the service calls: real sockets, answers that a test decides."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol, TypeVar


class Answering(Protocol):
    """Decides what a POST is answered with."""

    def __init__(self, port: int) -> None: ...

    answers_with: dict[str, str]
    """Headers of every answer."""

    def answer(self, path: str, headers: dict[str, str], sent: dict[str, Any]) -> tuple[int, bytes]:
        """Give status and body for a JSON body that was sent to a path."""


A = TypeVar("A", bound=Answering)


@contextlib.contextmanager
def serving(kind: type[A]) -> Iterator[A]:
    """Run a server inside the block; gives what decides its answers, made with the port."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status, body = decides.answer(self.path, dict(self.headers.items()), sent)
            with contextlib.suppress(OSError):  # who asked may have gone
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                for name, value in decides.answers_with.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    decides = kind(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield decides
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
