"""A little endpoint of OpenAI's embeddings over HTTP on loopback: a vector follows from a text's letters."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def vector_of(text: str, dim: int) -> list[float]:
    counted = [0.01] * dim
    for word in text.lower().split():
        counted[sum(word.encode()) % dim] += 1.0
    return counted


class LittleEndpoint:
    """Answers vectors of `dim` numbers, the last first, or `status` where that is set."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/v1"
        self.dim = 256
        self.status = 200
        self.failures = 0
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []

    @property
    def texts(self) -> list[str]:
        return [text for sent in self.asked for text in sent["input"]]

    def answer(self, path: str, headers: dict[str, str], sent: dict[str, Any]) -> tuple[int, bytes]:
        assert path == "/v1/embeddings"
        self.asked.append(sent)
        self.headers.append(headers)
        if self.failures:
            self.failures -= 1
            return 503, b"{}"
        if self.status != 200:
            return self.status, b'{"error": {"message": "no"}}'
        rows = [{"index": n, "embedding": vector_of(text, self.dim)} for n, text in enumerate(sent["input"])]
        return 200, json.dumps({"data": rows[::-1], "model": sent["model"]}).encode()


@contextlib.contextmanager
def little_endpoint() -> Iterator[LittleEndpoint]:
    """Run an endpoint inside the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status, body = endpoint.answer(self.path, dict(self.headers.items()), sent)
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    endpoint = LittleEndpoint(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
