"""`python -m tests.evaluate FOLDER`: load sets through /v1, search through /v1, and print measures beside baselines.

FOLDER holds sets (or is one): `corpus.jsonl[.gz]`, `queries.<split>.jsonl`, `qrels.<split>.tsv`. Each set gets a
workspace of its own; a question of a group is asked with that group as a tag.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2

from app.features.indexing.remote import MiniLM
from app.process import stop_process
from tests.evaluate.baselines import DEPTH, Dense, Grep, PlainBM25
from tests.evaluate.data import EvaluationSet, Question, read_set
from tests.evaluate.metrics import NAMES, judge, mean
from tests.support import stack as stacks
from tests.support.stack import ServerProcess, Stack, start_worker

Rows = dict[str, tuple[float, ...]]


class Service:
    """The product, over HTTP."""

    name = "service"

    def __init__(self, client: httpx2.Client) -> None:
        self._client = client
        self._ids: dict[str, str] = {}
        self.seconds: list[float] = []

    def load(self, data: EvaluationSet) -> None:
        """Write the documents and wait until all are indexed."""
        for document in data.documents:
            tags = [document["group"]] if document.get("group") else []
            body = {"title": document.get("title") or document["id"], "content": document["text"], "tags": tags}
            made = self._client.post("/v1/documents", json=body).raise_for_status().json()["data"]
            self._ids[made["id"]] = document["id"]
        while self._pending():
            time.sleep(0.5)

    def _pending(self) -> int:
        answer = self._client.get("/v1/search", params={"q": "x", "semantic": "false", "limit": 1})
        return int(answer.raise_for_status().json()["meta"]["pending"])

    def rank(self, question: Question) -> list[str]:
        """Order documents for a question, best first."""
        params = {"q": question.text[:2000], "type": "documents", "limit": DEPTH, "tags": question.group or ""}
        began = time.perf_counter()
        answer = self._client.get("/v1/search", params=params).raise_for_status()
        self.seconds.append(time.perf_counter() - began)
        return [self._ids[hit["documentId"]] for hit in answer.json()["data"]["documents"]]


@contextlib.contextmanager
def _serving(stack: Stack) -> Iterator[str]:
    server, worker = ServerProcess(stack.settings), start_worker(stack)
    try:
        with stacks.serving(server):
            yield f"http://127.0.0.1:{server.port}"
    finally:
        stop_process(worker, signal.SIGTERM, 20)


async def _baselines(data: EvaluationSet) -> Rows:
    model = MiniLM(2)
    try:
        systems = [PlainBM25(data), await Dense.of(data, model), Grep(data)]
    finally:
        await model.close()
    return {system.name: mean(judge(system.rank(one), one.relevant) for one in data.questions) for system in systems}


def _print(data: EvaluationSet, rows: Rows, seconds: list[float]) -> None:
    print(f"\n{data.name}: {len(data.documents)} documents, {len(data.questions)} questions")
    print(f"{'':10}" + "".join(f"{name:>12}" for name in NAMES))
    for name, values in rows.items():
        print(f"{name:10}" + "".join(f"{value:12.3f}" for value in values))
    if seconds:
        print(f"median time of a search: {1000 * statistics.median(seconds):.0f} ms", flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.evaluate", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--set", nargs="*", dest="names", help="only these sets")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--questions", type=int, help="only so many of each set")
    parser.add_argument("--documents", type=int, help="only so many of each set; questions about others are left out")
    return parser.parse_args()


def _chosen(options: argparse.Namespace) -> Iterator[EvaluationSet]:
    folders = [options.folder, *sorted(options.folder.iterdir())]
    for folder in folders:
        if not (folder / f"qrels.{options.split}.tsv").is_file() or (
            options.names and folder.name not in options.names
        ):
            continue
        data = read_set(folder, options.split)
        documents = data.documents[: options.documents]
        kept = {document["id"] for document in documents}
        questions = [one for one in data.questions if one.relevant.keys() <= kept][: options.questions]
        yield EvaluationSet(data.name, documents, questions)


def main() -> int:
    """Evaluate the chosen sets; 2 when there are none."""
    options = _options()
    found = list(_chosen(options))
    if not found:
        print(f"no set with the split {options.split!r} in {options.folder}", file=sys.stderr)
        return 2
    with (
        tempfile.TemporaryDirectory(prefix="context-repo-eval-") as folder,
        stacks.running(Path(folder)) as stack,
        _serving(stack) as url,
    ):
        for data in found:
            key = stack.user(f"{data.name}@example.test")
            headers = {"Authorization": f"API-Key {key}"}
            with httpx2.Client(base_url=url, headers=headers, timeout=60) as client:
                service = Service(client)
                service.load(data)
                own = mean(judge(service.rank(one), one.relevant) for one in data.questions)
            _print(data, {service.name: own} | asyncio.run(_baselines(data)), service.seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
