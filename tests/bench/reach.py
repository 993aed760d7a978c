"""`python -m tests.bench.reach`: what a key that is narrowed to collections pays, against one that sees everything.

The key is narrowed to a collection of one document, or of all, among many. Each row is the median of searches or lists
over HTTP, divided by the same of the key that sees everything.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import asyncpg
import httpx2

from app.features.indexing.service import index_workspace
from app.kit.secrets import parse_api_key
from app.store import postgres
from tests.bench.search import Random
from tests.contract.test_checklist import COPY
from tests.support import stack as stacks
from tests.support.stack import ServerProcess, Stack

MUST = 1.5
BARRED = ("search", "literal search", "passages")
"""A list's first page costs so little that the rest of the request decides."""
QUERY = "lighthouse keeper lamp"
EVERY = """
INSERT INTO collection_items (workspace_id, collection_id, item_type, item_id, added_by, added_at)
SELECT workspace_id, $2, 'document', id, created_by, created_at FROM documents WHERE workspace_id = $1
    ON CONFLICT DO NOTHING
"""

Ask = Callable[[httpx2.Client], httpx2.Response]
ROWS: dict[str, Ask] = {
    "search": lambda client: client.get("/v1/search", params={"q": QUERY, "type": "documents"}),
    "literal search": lambda client: client.get("/v1/search", params={"q": "keeper", "semantic": "false"}),
    "passages": lambda client: client.post("/v1/pd/search", json={"query": QUERY}),
    "list": lambda client: client.get("/v1/documents"),
    "filtered list": lambda client: client.get("/v1/documents", params={"search": "Old man"}),
}


def _made(client: httpx2.Client, path: str, body: dict[str, object]) -> str:
    made: str = client.post(path, json=body).raise_for_status().json()["data"]["id"]
    return made


async def _fill(stack: Stack, workspace: UUID, copied: str, every: str, documents: int) -> None:
    """Index what is there, copy a document with all that the index has of it, and put all into a collection."""
    async with postgres.connected(stack.settings) as database:
        while await index_workspace(database, Random(), workspace):
            pass
    connection = await asyncpg.connect(stack.superuser_url)
    try:
        for statement in COPY:
            await connection.execute(statement, workspace, UUID(copied), documents)
        await connection.execute(EVERY, workspace, UUID(every))
        await connection.execute("ANALYZE")
    finally:
        await connection.close()


def _median(client: httpx2.Client, ask: Ask, rounds: int) -> float:
    times = []
    for _ in range(rounds + 1):
        began = time.perf_counter()
        ask(client).raise_for_status()
        times.append(1000 * (time.perf_counter() - began))
    return statistics.median(times[1:])


async def _narrow(stack: Stack, key: str, collection: str) -> None:
    parsed = parse_api_key(key)
    assert parsed is not None
    connection = await asyncpg.connect(stack.superuser_url)
    try:
        narrowed = "UPDATE credentials SET collection_ids = ARRAY[$2::uuid] WHERE public_id = $1"
        await connection.execute(narrowed, parsed.public_id, UUID(collection))
    finally:
        await connection.close()


def _measure(stack: Stack, documents: int, rounds: int) -> list[dict[str, float | str]]:
    api, email = ServerProcess(stack.settings), "bench@example.com"
    key, few, every = stack.user(email), stack.key(email), stack.key(email)
    with contextlib.ExitStack() as held:
        held.enter_context(stacks.serving(api))
        clients = [
            held.enter_context(
                httpx2.Client(
                    base_url=f"http://127.0.0.1:{api.port}", headers={"Authorization": f"API-Key {one}"}, timeout=120
                )
            )
            for one in (key, few, every)
        ]
        whole = clients[0]
        workspace = UUID(whole.get("/v1/user/me").json()["data"]["workspace"]["id"])
        loud = _made(whole, "/v1/documents", {"title": "Lighthouse", "content": "The keeper trims the lamp at night."})
        quiet = _made(whole, "/v1/documents", {"title": "Old man", "content": "Somebody had once been a keeper."})
        shelves = [_made(whole, "/v1/collections", {"name": name}) for name in ("Few", "Every")]
        items = {"itemIds": [quiet], "itemType": "document"}
        whole.post(f"/v1/collections/{shelves[0]}/items", json=items).raise_for_status()
        asyncio.run(_fill(stack, workspace, loud, shelves[1], documents))
        for one, shelf in zip((few, every), shelves, strict=True):
            asyncio.run(_narrow(stack, one, shelf))
        report: list[dict[str, float | str]] = []
        for name, ask in ROWS.items():
            times = [_median(client, ask, rounds) for client in clients]
            report.append({"row": name, "whole p50": times[0], "few": times[1] / times[0], "all": times[2] / times[0]})
        return report


def main() -> int:
    """Measure and print; 1 when a key of few documents pays much more than one of all."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.reach", description=__doc__)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path, default=Path("bench-reach.json"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, stacks.running(Path(folder)) as stack:
        report = _measure(stack, options.documents, options.rounds)
    options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    print(f"{'':16} {'whole p50 ms':>14} {'few ÷ whole':>12} {'all ÷ whole':>12}")
    for row in report:
        print(f"{row['row']:16} {row['whole p50']:14.1f} {row['few']:12.2f} {row['all']:12.2f}")
    return 1 if any(float(row["few"]) > MUST for row in report if row["row"] in BARRED) else 0


if __name__ == "__main__":
    sys.exit(main())
