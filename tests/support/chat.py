"""A little endpoint of OpenAI's chat completions over HTTP on loopback: answers what it is told to."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Said = str | int | bytes


class LittleModel:
    """Answers with `says`: a text, a status, raw bytes, or a function of the request that gives one of these."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/v1"
        self.says: Said | Callable[[dict[str, Any]], Said] = "Nothing."
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.seconds = 0.0

    @property
    def prompt(self) -> str:
        """What the user's message of the last request held."""
        return str(self.asked[-1]["messages"][1]["content"])

    def answer(self, path: str, headers: dict[str, str], sent: dict[str, Any]) -> tuple[int, bytes]:
        assert path == "/v1/chat/completions"
        self.asked.append(sent)
        self.headers.append(headers)
        time.sleep(self.seconds)
        said = self.says(sent) if callable(self.says) else self.says
        if isinstance(said, int):
            return said, b'{"error": {"message": "no"}}'
        if isinstance(said, bytes):
            return (400, said) if b"max_completion_tokens" in said else (200, said)
        return 200, json.dumps({"choices": [{"message": {"role": "assistant", "content": said}}]}).encode()


@contextlib.contextmanager
def little_model() -> Iterator[LittleModel]:
    """Run an endpoint inside the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status, body = model.answer(self.path, dict(self.headers.items()), sent)
            with contextlib.suppress(OSError):  # who asked may have gone
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    model = LittleModel(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
