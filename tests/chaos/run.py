"""One run: users, documents, clients, faults, then the versions as they are in the end, and the verdict."""

from __future__ import annotations

import asyncio
import contextlib
import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import asyncpg

from tests.chaos.checker import RULES, check
from tests.chaos.clients import Client, Document, Request, World, exchange
from tests.chaos.history import Call, save
from tests.chaos.lease_clients import LeaseClient
from tests.chaos.lease_rules import LEASE_RULES
from tests.chaos.nemesis import Nemesis
from tests.support import stack as stacks
from tests.support.stack import ServerProcess, Stack

USERS, DOCUMENTS, CLIENTS = 2, 3, 10
MANAGED, HOLDERS = 2, 6
"""Lease-managed documents of the run, and the clients that hold their leases."""
_VISIBLE_SECONDS = 30.0
"""How long a document that was just made may be absent: a mutant answers before it commits."""
ANSWERED_PER_SECOND = 10
"""The floor: a run with fewer known outcomes proves nothing, so it does not pass."""


@dataclass(frozen=True)
class Plan:
    """What to run."""

    seed: int
    seconds: float
    faults: bool = True
    enough: int = 0
    """Stop early once so many outcomes are known (0: never)."""
    floor: int = 0
    """With fewer known outcomes the run goes on, for as long again at most, and is inconclusive after that."""
    keep: bool = True
    """Whether a failing history is kept."""


@dataclass
class Verdict:
    """What a run found."""

    plan: Plan
    violations: list[str]
    answered: int
    unknown: int
    retried: int
    replayed: int
    faults: Counter[str] = field(default_factory=Counter)

    @property
    def conclusive(self) -> bool:
        """Whether enough was answered to believe a clean history."""
        return self.answered >= self.plan.floor

    def __str__(self) -> str:
        faults = ", ".join(f"{count} × {name}" for name, count in sorted(self.faults.items())) or "no faults"
        verdict = f"{len(self.violations)} violations" if self.violations else "clean"
        return (
            f"seed {self.plan.seed}: {verdict if self.conclusive else 'INCONCLUSIVE'}; {self.answered} answered, "
            f"{self.unknown} unknown, {self.retried} keys retried, {self.replayed} replays; {faults}"
        )


@contextlib.contextmanager
def service(stack: Stack, factory: str = "app.main:create_app", **extra: str) -> Iterator[list[ServerProcess]]:
    """Run two API processes on the stack's stores, each on an address of its own."""
    log = stack.settings.data_dir / "workers.log" if stack.servers else None
    workers = [ServerProcess(stack.settings, factory, extra, log=log) for _ in range(2)]
    with stacks.serving(*workers):
        yield workers


async def create_documents(workers: Sequence[ServerProcess], users: Sequence[Sequence[str]]) -> list[Document]:
    """Create the run's documents."""
    found = []
    for credentials in users:
        for number in range(DOCUMENTS):
            body = {"title": f"Document {number}", "content": "the beginning", "tags": ["chaos"]}
            request = Request(Call("create", "patch", "", 0, 0), "POST", "/v1/documents", body=body)
            status, _, text = await exchange(workers[0].port, request.encode(credentials[0]))
            assert status == 201, text
            found.append(Document(json.loads(text)["data"]["id"], tuple(credentials)))
    return found


async def _manage(worker: ServerProcess, document: Document) -> None:
    """Require leases for a document."""
    path = f"/v1/documents/{document.id}"
    read = Request(Call("read", "get", "", 0, 0), "GET", path)
    deadline = time.monotonic() + _VISIBLE_SECONDS
    status, headers, text = await exchange(worker.port, read.encode(document.credentials[0]))
    while status == 404 and time.monotonic() < deadline:
        await asyncio.sleep(0.02)
        status, headers, text = await exchange(worker.port, read.encode(document.credentials[0]))
    assert status == 200, f"document {document.id} could not be read within {_VISIBLE_SECONDS:g} s: {status} {text}"
    tag, body = {"If-Match": headers["etag"]}, {"policy": "lease_required"}
    change = Request(Call("manage", "policy", "", 0, 0), "PUT", f"{path}/coordination", tag, body)
    status, _, text = await exchange(worker.port, change.encode(document.credentials[0]))
    assert status == 200, text


def sign_up(stack: Stack, name: str) -> list[list[str]]:
    """Create the users, each with the credentials of two grants."""
    users = []
    for number in range(USERS):
        email = f"{name}-{number}@example.com"
        users.append([f"API-Key {stack.user(email)}", f"API-Key {stack.key(email)}"])
    return users


async def play(stack: Stack, workers: Sequence[ServerProcess], users: Sequence[Sequence[str]], plan: Plan) -> Verdict:
    """Run clients and faults, and judge."""
    random = Random(plan.seed)
    documents = await create_documents(workers, users)
    managed = (await create_documents(workers, users))[::DOCUMENTS][:MANAGED]
    for document in managed:
        await _manage(workers[0], document)
    ports = [worker.port for worker in workers]
    world = World(lambda: ports, documents, random, time.monotonic() + plan.seconds)
    latest = world.deadline + 3 * plan.seconds  # a busy machine answers late, and few answers prove nothing
    everything = [*documents, *managed]
    nemesis = Nemesis(stack, workers, everything, Random(plan.seed + 1)) if plan.faults else None
    tasks = [asyncio.create_task(Client(world).run()) for _ in range(CLIENTS)]
    # One document has one holder alone, so that leases run out without being taken over; the others fight for the rest.
    shares = [managed[:1], *([managed[1:]] * (HOLDERS - 1))]
    tasks += [asyncio.create_task(LeaseClient(world, share).run()) for share in shares]
    if nemesis is not None:
        tasks.append(asyncio.create_task(nemesis.run(world.deadline)))
    while not all(task.done() for task in tasks):
        answered = sum(call.known for call in world.calls)
        if plan.enough and answered >= plan.enough:
            world.deadline = 0.0
        elif answered < plan.floor and world.deadline - 1 < time.monotonic() < latest:
            world.deadline += 1
        await asyncio.wait(tasks, timeout=0.2)
    await asyncio.gather(*tasks, *world.late)
    for worker in workers:
        await asyncio.to_thread(worker.wait_ready)
    world.calls += [await _final(ports[0], document) for document in everything]
    violations = check(world.calls, (*RULES, *LEASE_RULES)) + await _side_effects(stack, everything, world.calls)
    if violations and plan.keep:
        _keep(world.calls, plan.seed)
    known = sum(call.known for call in world.calls)
    faults = nemesis.faults if nemesis else Counter[str]()
    replayed = sum(call.replayed for call in world.calls)
    return Verdict(plan, violations, known, len(world.calls) - known, world.retried, replayed, faults)


async def _final(port: int, document: Document) -> Call:
    """Read all versions after the faults, page by page."""
    versions: list[Any] = []
    cursor = ""
    while True:
        query = f"?limit=100&cursor={cursor}" if cursor else "?limit=100"
        call = Call("final", "final", document.id, time.monotonic(), 0)
        request = Request(call, "GET", f"/v1/documents/{document.id}/versions{query}")
        status, _, body = await exchange(port, request.encode(document.credentials[0]))
        assert status == 200, body
        page = json.loads(body)
        versions += page["data"]
        cursor = page["pagination"]["cursor"]
        if not page["pagination"]["hasMore"]:
            break
    return Call("final", "final", document.id, call.invoked, time.monotonic(), 200, json.dumps({"data": versions}))


async def _side_effects(stack: Stack, documents: Sequence[Document], calls: Sequence[Call]) -> list[str]:
    """D6: exactly one event and one audit line for each revision, and none for what was rolled back."""
    final = {
        call.document: sorted(v["revision"] for v in call.answer["data"]) for call in calls if call.kind == "final"
    }
    connection = await asyncpg.connect(stack.superuser_url)
    faults = []
    try:
        for table in ("events", "audit"):
            for document in documents:
                rows: list[Mapping[str, Any]] = await connection.fetch(
                    f"SELECT revision FROM {table} WHERE object_id = $1 AND topic NOT LIKE 'document.lease.%' "
                    "AND topic NOT LIKE 'document.policy.%' ORDER BY revision",
                    document.id,
                )
                if (found := [row["revision"] for row in rows]) != final[document.id]:
                    faults.append(
                        f"{document.id}: D6 {table} tell of {len(found)} of {len(final[document.id])} revisions"
                    )
    finally:
        await connection.close()
    return faults


def _keep(calls: Sequence[Call], seed: int) -> None:
    path = Path(tempfile.gettempdir()) / f"chaos-{seed}-{int(time.time())}.jsonl"
    save(calls, path)
    print(f"the history is kept in {path}", flush=True)
