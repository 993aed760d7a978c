"""`python -m tests.bench.search`: a search over HTTP against its parts, each run alone.

Documents are indexed as always, but for their vectors, which are random: a model would take hours and is no part of a
search but for the question's. The parts are the embedding of a question, the ranking statement by words alone, and the
same by a vector without words. What a deep search takes over HTTP is told beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from uuid import UUID

import httpx2
import numpy as np

from app.features.indexing.remote import MiniLM, Vector
from app.features.indexing.service import Serving, index_workspace
from app.features.indexing.serving import EXACT_BELOW
from app.features.indexing.slots import queries as slots
from app.features.search.ranking import queries
from app.store import postgres
from tests.support import stack as stacks
from tests.support.corpus import markdown_files
from tests.support.stack import ServerProcess, Stack

MUST = 1.5
BATCH = 100
KINDS = ("document", "prompt", "collection")

Asking = Callable[[httpx2.Client, str], httpx2.Response]


class Random:
    """Vectors without meaning, under the name of the model that serves."""

    name, dim = MiniLM.name, MiniLM.dim

    def __init__(self) -> None:
        self._source = np.random.default_rng(1)

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Give a random unit vector for each text."""
        made = self._source.standard_normal((len(texts), self.dim))
        units = made / np.linalg.norm(made, axis=1, keepdims=True)
        return list(units.astype(np.float16))

    async def embed_query(self, text: str) -> Vector:
        """Give a random unit vector."""
        return (await self.embed([text]))[0]

    async def close(self) -> None:
        """Nothing is held."""


def _load(client: httpx2.Client, count: int) -> list[str]:
    samples = list(markdown_files(count, 1))
    for start in range(0, count, BATCH):
        items = [
            {"op": "create", "title": sample.title, "content": sample.text} for sample in samples[start : start + BATCH]
        ]
        client.post("/v1/documents:batch", json={"items": items}).raise_for_status()
    return [sample.question for sample in samples]


async def _index(stack: Stack, workspace: UUID) -> None:
    async with postgres.connected(stack.settings) as database:
        while await index_workspace(database, Random(), workspace):
            pass


def _search(client: httpx2.Client, question: str) -> httpx2.Response:
    return client.get("/v1/search", params={"q": question})


def _deep(client: httpx2.Client, question: str) -> httpx2.Response:
    return client.post("/v1/pd/search", json={"query": question})


def _ask(client: httpx2.Client, questions: Sequence[str], how: Asking = _search) -> list[float]:
    times = []
    for question in questions:
        began = time.perf_counter()
        how(client, question).raise_for_status()
        times.append(1000 * (time.perf_counter() - began))
    return sorted(times)


async def _parts(stack: Stack, workspace: UUID, questions: Sequence[str]) -> tuple[dict[str, list[float]], int]:
    times: dict[str, list[float]] = {"embedding": [], "words": [], "vectors": []}
    model = MiniLM(1)
    await model.warm()
    async with postgres.connected(stack.settings) as database:
        async with database.snapshot(workspace) as tx:
            row = await slots.get_serving(tx)
        assert row is not None
        serving = Serving(row["model"], row["dim"], row["slot"], row["vectors"] > EXACT_BELOW)
        for question in questions:
            began = time.perf_counter()
            vector = await model.embed_query(question)
            times["embedding"].append(1000 * (time.perf_counter() - began))
            async with database.snapshot(workspace) as tx:
                began = time.perf_counter()
                await queries.rank(tx, KINDS, question, [], None, serving)
                between = time.perf_counter()
                await queries.rank(tx, KINDS, "the", [], vector, serving)
                times["words"].append(1000 * (between - began))
                times["vectors"].append(1000 * (time.perf_counter() - between))
    await model.close()
    return times, row["vectors"]


def _measure(stack: Stack, documents: int, asked: int) -> dict[str, float]:
    api = ServerProcess(stack.settings)
    headers = {"Authorization": f"API-Key {stack.user('bench@example.com')}"}
    with (
        stacks.serving(api),
        httpx2.Client(base_url=f"http://127.0.0.1:{api.port}", headers=headers, timeout=120) as client,
    ):
        workspace = UUID(client.get("/v1/user/me").json()["data"]["workspace"]["id"])
        questions = _load(client, documents)[:: max(documents // asked, 1)][:asked]
        asyncio.run(_index(stack, workspace))
        _ask(client, questions[:20])
        search = _ask(client, questions)
        _ask(client, questions[:20], _deep)
        deep = _ask(client, questions, _deep)
        parts, chunks = asyncio.run(_parts(stack, workspace, questions))
    report = {f"{name} p50": statistics.median(times) for name, times in parts.items()}
    alone = sum(report.values())
    report["chunks"] = chunks
    for name, times in {"search": search, "deep search": deep}.items():
        report |= {f"{name} p50": statistics.median(times), f"{name} p95": times[int(0.95 * len(times))]}
    return {**report, "ratio": report["search p50"] / alone}


def main() -> int:
    """Measure and print; 1 when a search costs more than its parts allow."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.search", description=__doc__)
    parser.add_argument("--documents", type=int, default=1_000)
    parser.add_argument("--questions", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, stacks.running(Path(folder)) as stack:
        report = _measure(stack, options.documents, options.questions)
    print(json.dumps({name: round(value, 2) for name, value in report.items()}, indent=2))
    print(f"{options.documents} documents: search ÷ parts {report['ratio']:.2f}, must be at most {MUST}")
    return 1 if report["ratio"] > MUST else 0


if __name__ == "__main__":
    sys.exit(main())
