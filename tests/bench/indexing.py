"""`python -m tests.bench.indexing`: indexing against its own embedding model on the same texts, and search latency.

Two processes with the same number of model threads: a worker that indexes an import through the API, and the model
alone. They take turns on the same machine, so that only the ratio counts.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import httpx2

from app.features.indexing.remote import MiniLM
from app.features.indexing.service import Serving
from app.features.search.ranking import queries
from app.process import stop_process
from app.store import postgres
from tests.support import stack as stacks
from tests.support.corpus import markdown_files
from tests.support.stack import ServerProcess, Stack, start_worker

MUST, GOAL = 0.70, 0.80
BATCH = 64
PENDING = "SELECT count(*) FROM documents WHERE status NOT IN ('ready', 'failed')"
SERVING = Serving(MiniLM.name, MiniLM.dim, 0)
POLL_SECONDS = 0.25
TEXTS = """
SELECT DISTINCT ON (c.text_digest)
       CASE WHEN c.level = 'document' THEN c.header || E'\\n' || left(t.content, 8192)
            ELSE c.header || E'\\n' || c.content END AS body
  FROM chunks c
  JOIN documents d ON d.workspace_id = c.workspace_id AND d.id = c.document_id
  JOIN contents t ON t.workspace_id = d.workspace_id AND t.digest = d.content_digest
 WHERE c.workspace_id = $1 AND c.level IN ('document', 'paragraph')
"""


def _documents(files: int, seed: int, folder: Path | None) -> list[dict[str, str]]:
    made = [{"title": sample.title, "content": sample.text} for sample in markdown_files(files, seed)]
    if folder is not None:
        with gzip.open(folder / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines if line.strip()]
        made += [{"title": row.get("title") or row["id"], "content": row["text"]} for row in rows]
    return made


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="latin-1").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def _pending(dsn: str) -> int:
    """Count what is not indexed by the cheapest question: a search would take its own time from what is measured."""
    connection = await asyncpg.connect(dsn)
    try:
        return int(await connection.fetchval(PENDING))
    finally:
        await connection.close()


def _index(stack: Stack, client: httpx2.Client, documents: list[dict[str, str]]) -> tuple[float, float]:
    """Import and wait until everything is ready; the worker runs from the start, and is warm; seconds, and its CPU."""
    worker = start_worker(stack)
    try:
        client.post("/v1/documents", json={"title": "Warm", "content": "up"}).raise_for_status()
        while asyncio.run(_pending(stack.superuser_url)):
            time.sleep(POLL_SECONDS)
        began, cpu = time.perf_counter(), _cpu_seconds(worker.pid)
        for document in documents:
            client.post("/v1/documents", json=document).raise_for_status()
        while asyncio.run(_pending(stack.superuser_url)):
            time.sleep(POLL_SECONDS)
        return time.perf_counter() - began, _cpu_seconds(worker.pid) - cpu
    finally:
        stop_process(worker, signal.SIGTERM, 20)


async def _embed(texts: list[str], threads: int) -> tuple[float, float]:
    model = MiniLM(threads)
    await model.embed(["warm"] * threads)
    began, cpu = time.perf_counter(), time.process_time()
    for start in range(0, len(texts), BATCH):
        await model.embed(texts[start : start + BATCH])
    seconds = (time.perf_counter() - began, time.process_time() - cpu)
    await model.close()
    return seconds


async def _texts(dsn: str, workspace: UUID) -> list[str]:
    connection = await asyncpg.connect(dsn)
    try:
        return [row["body"] for row in await connection.fetch(TEXTS, workspace)]
    finally:
        await connection.close()


def _search_latency(client: httpx2.Client, questions: list[str]) -> float:
    times = []
    for question in questions:
        began = time.perf_counter()
        client.get("/v1/search", params={"q": question}).raise_for_status()
        times.append(time.perf_counter() - began)
    return 1000 * statistics.median(times)


async def _sql_latency(stack: Stack, workspace: UUID, questions: list[str]) -> tuple[float, float]:
    model = MiniLM(1)
    vectors = [await model.embed_query(question) for question in questions]
    await model.close()
    lexical, dense = [], []
    async with postgres.connected(stack.settings) as database:
        for question, vector in zip(questions, vectors, strict=True):
            async with database.snapshot(workspace) as tx:
                began = time.perf_counter()
                await queries.rank(tx, ["document"], question, [], None, SERVING)
                between = time.perf_counter()
                await queries.rank(tx, ["document"], "the", [], vector, SERVING)
                lexical.append(between - began)
                dense.append(time.perf_counter() - between)
    return 1000 * statistics.median(lexical), 1000 * statistics.median(dense)


def _measure(stack: Stack, options: argparse.Namespace) -> dict[str, Any]:
    assert stack.servers.postgres is not None
    key = stack.user("bench@example.com")
    api = ServerProcess(stack.settings)
    headers = {"Authorization": f"API-Key {key}"}
    documents = _documents(options.files, options.seed, options.docs)
    questions = [sample.question for sample in markdown_files(options.files, options.seed)][:100]
    with stacks.serving(api), httpx2.Client(base_url=f"http://127.0.0.1:{api.port}", headers=headers) as client:
        workspace = UUID(client.get("/v1/user/me").json()["data"]["workspace"]["id"])
        indexing, worker_cpu = _index(stack, client, documents)
        texts = asyncio.run(_texts(stack.servers.postgres.url("context_repo"), workspace))
        embedding, model_cpu = asyncio.run(_embed(texts, stack.settings.embed_threads))
        search = _search_latency(client, questions)
        lexical, dense = asyncio.run(_sql_latency(stack, workspace, questions))
    return {
        "documents": len(documents), "texts": len(texts), "indexing": round(indexing, 1),
        "embedding": round(embedding, 1), "ratio": round(embedding / indexing, 3),
        "cpuRatio": round(model_cpu / worker_cpu, 3), "searchP50ms": round(search, 1),
        "lexicalP50ms": round(lexical, 1), "denseP50ms": round(dense, 1),
    }  # fmt: skip


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.indexing", description=__doc__)
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--docs", type=Path, help="a folder with docs.jsonl.gz, imported as well")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, stacks.running(Path(folder), durable=True) as stack:
        report = _measure(stack, options)
    print(json.dumps(report, indent=2))
    print(f"embedding ÷ indexing {report['ratio']:.2f}, must {MUST}, goal {GOAL}")
    return 1 if report["ratio"] < MUST else 0


if __name__ == "__main__":
    sys.exit(main())
