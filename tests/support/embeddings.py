"""A little endpoint of OpenAI's embeddings over HTTP on loopback: a vector follows from a text's letters."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from tests.support.little_server import serving


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
        self.answers_with: dict[str, str] = {}
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


def little_endpoint() -> contextlib.AbstractContextManager[LittleEndpoint]:
    """Run an endpoint inside the block."""
    return serving(LittleEndpoint)
