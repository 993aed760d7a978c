"""`python -m tests.bench`: ratios of the service against bare twins, all in one run.

Absolute figures say more about the machine than about the program: only ratios and CPU time per request count.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg
import httpx2

from tests.bench import twins
from tests.bench.client import Order
from tests.bench.measure import CONNECTIONS, Case, Client, Row
from tests.support import stack as stacks
from tests.support.stack import ServerProcess, Stack

CONTENT = ("The quick brown fox jumps over the lazy dog, and the context repository keeps what it did. " * 12)[:1000]


class Twins(NamedTuple):
    """The bare programs, each in a process."""

    read: ServerProcess
    write: ServerProcess
    tools: ServerProcess


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.5, help="length of a slice, at most 2")
    parser.add_argument(
        "--smoke",
        action="store_true",
        help="few rounds, to see that every row can be measured; its figures fail nothing",
    )
    parser.add_argument("--json", type=Path, default=Path("bench.json"))
    options = parser.parse_args()
    if options.smoke:
        options.rounds, options.seconds = min(options.rounds, 3), min(options.seconds, 1.0)
    options.seconds = min(options.seconds, 2.0)
    return options


def _create(url: str, key: str) -> list[dict[str, Any]]:
    with httpx2.Client(base_url=url, headers={"Authorization": f"API-Key {key}"}) as client:
        return [
            client.post("/v1/documents", json={"title": f"Document {n}", "content": CONTENT, "tags": ["a", "b"]})
            .raise_for_status()
            .json()["data"]
            for n in range(CONNECTIONS)
        ]


async def _prepare(dsn: str, documents: list[dict[str, Any]]) -> None:
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute("DROP TABLE IF EXISTS bench_documents;" + twins.TABLE)
        rows = [
            (
                UUID(d["id"]), d["title"], d["status"], d["sourceType"], d["tags"], d["currentVersion"], d["revision"],
                d["contentHash"], d["createdAt"], d["lastChangedAt"], d["content"], d["policy"],
            )
            for d in documents
        ]  # fmt: skip
        await connection.copy_records_to_table("bench_documents", records=rows)
        # A conditional read is only answered 304 when indexing is through.
        await connection.execute("UPDATE documents SET status = 'ready'")
        await connection.execute("VACUUM ANALYZE documents")
    finally:
        await connection.close()


def _read(
    name: str, server: ServerProcess, paths: list[str], expect: int = 200, in_flight: int | None = None, **headers: str
) -> Case:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Case(
        name,
        server,
        lambda s: Order(server.port, s, "GET", paths, headers=named, expect=expect, connections=in_flight),
    )


def _tool(server: ServerProcess, document_id: str, path: str, **headers: str) -> Case:
    params = {"name": "get_document", "arguments": {"documentId": document_id}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    given = {"Accept": "application/json, text/event-stream", **headers}
    return Case(
        "tools/call",
        server,
        lambda s: Order(server.port, s, "POST", [path], headers=given, body=body, connections=1),
    )


def _listing(app: ServerProcess, bare: ServerProcess, authorization: str) -> tuple[Case, Case]:
    """Make the list of tools, and the same object from a plain route, one at a time."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    headers = {"Accept": "application/json, text/event-stream", "Authorization": authorization}
    url, typed = f"http://127.0.0.1:{app.port}/mcp", {"Content-Type": "application/json"}
    listed = httpx2.post(url, content=body, headers=headers | typed).raise_for_status().json()
    httpx2.put(f"http://127.0.0.1:{bare.port}/list", json=listed).raise_for_status()
    listing = Case(
        "tools/list",
        app,
        lambda s: Order(app.port, s, "POST", ["/mcp"], headers=headers, body=body, connections=1),
    )
    return listing, _read("JSON route", bare, ["/list"], in_flight=1)


def _write(
    name: str, server: ServerProcess, paths: list[str], revisions: list[int], *, keyed: bool = False, **headers: str
) -> Case:
    state = list(revisions)

    def order(seconds: float) -> Order:
        return Order(
            server.port, seconds, "PATCH", paths, headers=headers, change=True, keyed=keyed, revisions=list(state)
        )

    def learn(found: list[int]) -> None:
        state[:] = found

    return Case(name, server, order, learn=learn)


def _rows(app: ServerProcess, bare: Twins, key: str, dsn: str) -> list[Row]:
    url = f"http://127.0.0.1:{app.port}"
    reads, plain, keyed = _create(url, key), _create(url, key), _create(url, key)
    asyncio.run(_prepare(dsn, reads + plain + keyed))
    authorization = f"API-Key {key}"
    document = reads[0]
    paths = [f"/v1/documents/{d['id']}" for d in reads[:1]]
    etag = f'"r{document["revision"]}-{document["contentHash"][:16]}"'
    ones = [1] * CONNECTIONS
    bare_read = _read("bare read", bare.read, paths)
    get = _read("GET", app, paths, Authorization=authorization)
    unchanged = _read("GET 304", app, paths, 304, Authorization=authorization, If_None_Match=etag)
    bare_write = _write("bare write", bare.write, [f"/documents/{d['id']}" for d in plain], ones)
    patch = _write("PATCH", app, [f"/v1/documents/{d['id']}" for d in plain], ones, Authorization=authorization)
    with_key = _write(
        "PATCH + key", app, [f"/v1/documents/{d['id']}" for d in keyed], ones, keyed=True, Authorization=authorization
    )
    # One at a time: under load, many fast reads share the wake-ups of the stores' processes, and slower calls do not.
    one = _read("GET, one at a time", app, paths, in_flight=1, Authorization=authorization)
    tool = _tool(app, document["id"], "/mcp", Authorization=authorization)
    bare_tool = _tool(bare.tools, document["id"], "/mcp")
    listing, route = _listing(app, bare.write, authorization)
    return [
        Row("GET ÷ bare read", get, ((1, bare_read),), 0.30, 0.45),
        Row("GET 304 ÷ bare read", unchanged, ((1, bare_read),), 0.40, 0.60),
        Row("PATCH ÷ bare UPDATE", patch, ((1, bare_write),), 0.60, 0.80),
        Row("PATCH + key ÷ bare UPDATE", with_key, ((1, bare_write),), 0.45, 0.60),
        Row("GET + 1.1 bare SDK ÷ tools/call", tool, ((1, one), (1.1, bare_tool)), 1.0, 1.2),
        Row("JSON route ÷ tools/list", listing, ((1, route),), 1.0, 2.0),
    ]


def _cases(rows: list[Row]) -> list[Case]:
    found: dict[int, Case] = {}
    for row in rows:
        for case in (row.subject, *(case for _, case in row.parts)):
            found[id(case)] = case
    return list(found.values())


def _measure(rows: list[Row], options: argparse.Namespace, cpu: int | None) -> None:
    client = Client(cpu)
    try:
        for case in _cases(rows):
            case.slice(client, 0.5, keep=False)
        for number in range(options.rounds):
            print(f"round {number + 1} of {options.rounds}", file=sys.stderr, flush=True)
            for case in _cases(rows):
                case.slice(client, options.seconds)
    finally:
        client.close()


def _print(rows: list[Row]) -> None:
    print(f"{'':32} {'ratio':>7} {'by CPU':>7} {'µs CPU':>7} {'against':>8} {'p50 ms':>7} {'must':>6} {'goal':>6}")
    for row in rows:
        r = row.report()
        print(
            f"{r['row']:32} {r['ratio']:7.2f} {r['cpuRatio']:7.2f} {r['cpuMicroseconds']:7} "
            f"{r['againstMicroseconds']:8} {r['p50ms']:7.2f} {r['must']:6.2f} {r['goal']:6.2f}"
        )


def _pin_stores(stack: Stack, cpu: int) -> None:
    """Keep the stores off the servers' core: a backend that runs there costs the server its caches."""
    assert stack.servers is not None
    for store in (stack.servers.postgres, stack.servers.valkey):
        if store is not None and store.process is not None:
            os.sched_setaffinity(store.process.pid, {cpu})


def _run(stack: Stack, options: argparse.Namespace) -> int:
    dsn = stack.superuser_url
    cpus = sorted(os.sched_getaffinity(0))
    own, others = (cpus[0], cpus[1]) if len(cpus) > 1 else (None, None)
    if others is not None:
        _pin_stores(stack, others)
    key = stack.user("bench@example.com")
    app = ServerProcess(stack.settings, cpu=own)
    extra = {twins.DSN_ENV: dsn}
    bare = Twins(
        *(
            ServerProcess(stack.settings, f"tests.bench.twins:{name}", extra, own)
            for name in ("BareRead", "bare_write", "BareTools")
        )
    )
    with contextlib.ExitStack() as processes:
        processes.enter_context(stacks.serving(app, *bare))
        rows = _rows(app, bare, key, dsn)
        _measure(rows, options, others)
    _print(rows)
    options.json.write_text(json.dumps([row.report() for row in rows], indent=2) + "\n", encoding="utf-8")
    missed = [row.name for row in rows if row.missed]
    if missed and not options.smoke:
        print("missed: " + ", ".join(missed), file=sys.stderr)
        return 1
    return 0


def main() -> int:
    """Measure and print."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, stacks.running(Path(folder), durable=True) as stack:
        return _run(stack, options)


if __name__ == "__main__":
    sys.exit(main())
