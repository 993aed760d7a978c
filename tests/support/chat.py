"""A little endpoint of OpenAI's chat completions over HTTP on loopback: answers what it is told to."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from typing import Any

from tests.support.little_server import serving

Said = str | int | bytes


class LittleModel:
    """Answers with `says`: a text, a status, raw bytes, or a function of the request that gives one of these."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/v1"
        self.says: Said | Callable[[dict[str, Any]], Said] = "Nothing."
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.seconds = 0.0
        self.answers_with: dict[str, str] = {}

    @property
    def prompt(self) -> str:
        """What the user's message of the last request held."""
        return str(self.asked[-1]["messages"][1]["content"])

    def answer(self, path: str, headers: dict[str, str], sent: dict[str, Any]) -> tuple[int, bytes]:
        assert path == "/v1/chat/completions"
        self.asked.append(sent)
        self.headers.append(headers)
        says = self.says  # as it is now: who asked may have gone before the sleep is over, and the next test begun
        time.sleep(self.seconds)
        said = says(sent) if callable(says) else says
        if isinstance(said, int):
            return said, b'{"error": {"message": "no"}}'
        if isinstance(said, bytes):
            return (400, said) if b"max_completion_tokens" in said else (200, said)
        return 200, json.dumps({"choices": [{"message": {"role": "assistant", "content": said}}]}).encode()


def little_model() -> contextlib.AbstractContextManager[LittleModel]:
    """Run an endpoint inside the block."""
    return serving(LittleModel)
