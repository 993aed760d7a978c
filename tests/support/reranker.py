"""A little `/rerank` endpoint over HTTP on loopback: a text is as relevant as it has the letter `Z`."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from typing import Any

from tests.support.little_server import serving

Said = int | bytes | list[float]


def by_letter(sent: dict[str, Any]) -> list[float]:
    return [float(text.count("Z")) for text in sent["documents"]]


class LittleReranker:
    """Answers with `says`: the scores of the texts, a status, raw bytes, or a function of the request that gives one.

    As a `voyage` it knows `top_k` alone, no empty text, and calls its results `data`.
    """

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/v1"
        self.says: Said | Callable[[dict[str, Any]], Said] = by_letter
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.seconds = 0.0
        self.voyage = False
        self.answers_with: dict[str, str] = {}

    @property
    def texts(self) -> list[str]:
        """What the last request showed."""
        found: list[str] = self.asked[-1]["documents"]
        return found

    def answer(self, path: str, headers: dict[str, str], sent: dict[str, Any]) -> tuple[int, bytes]:
        assert path == "/v1/rerank"
        self.asked.append(sent)
        self.headers.append(headers)
        says = self.says  # as it is now: who asked may have gone before the sleep is over, and the next test begun
        time.sleep(self.seconds)
        if self.voyage and "top_n" in sent:
            return 400, b'{"detail": "Argument \'top_n\' is not supported by our API"}'
        if self.voyage and not all(sent["documents"]):
            return 400, b'{"detail": "Input cannot contain empty strings"}'
        said = says(sent) if callable(says) else says
        if isinstance(said, int):
            return said, b'{"error": "no"}'
        if isinstance(said, bytes):
            return 200, said
        rows = [{"index": place, "relevance_score": score} for place, score in enumerate(said)]
        ranked = sorted(rows, key=lambda row: -row["relevance_score"])
        return 200, json.dumps({"data" if self.voyage else "results": ranked, "model": sent["model"]}).encode()


def little_reranker() -> contextlib.AbstractContextManager[LittleReranker]:
    """Run an endpoint inside the block."""
    return serving(LittleReranker)
