"""`python -m tests.evaluate FOLDER`: load sets through /v1, search through /v1, and print measures beside baselines.

FOLDER holds sets (or is one): see `tests/evaluate/data.py` for their form. Each gets a workspace of its own; a question
of a group is asked with that group as a tag, or in the collection of that group where it is about passages.
`--keep FOLDER` keeps what was loaded: the next run searches it again, after the worker has brought its index up to
date.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import httpx2

from app.process import stop_process
from tests.evaluate.baselines import Dense, Grep, PlainBM25
from tests.evaluate.data import EvaluationSet, Task, Workspace, read_set, workspaces
from tests.evaluate.metrics import mean
from tests.evaluate.service import Kept, Service
from tests.support import stack as stacks
from tests.support.stack import ServerProcess, Stack, start_worker

Rows = dict[str, tuple[float, ...]]


@contextlib.contextmanager
def _serving(stack: Stack) -> Iterator[str]:
    server, worker = ServerProcess(stack.settings), start_worker(stack)
    try:
        with stacks.serving(server):
            yield f"http://127.0.0.1:{server.port}"
    finally:
        stop_process(worker, signal.SIGTERM, 20)


def _baselines(task: Task, folder: Path) -> Rows:
    dense = asyncio.run(Dense.of(task.units, task.questions, folder / "vectors.npz"))
    systems: list[PlainBM25 | Dense | Grep] = [PlainBM25(task.units), dense, Grep(task.units)]
    return {system.name: mean(task.judge(system.rank(one), one) for one in task.questions) for system in systems}


def _print(task: Task, rows: Rows, seconds: list[float]) -> None:
    print(f"\n{task.name}: {len(task.units)} units, {len(task.questions)} questions")
    print(f"{'':10}" + "".join(f"{name:>12}" for name in task.names))
    for name, values in rows.items():
        print(f"{name:10}" + "".join(f"{value:12.3f}" for value in values))
    behind = [
        measure
        for place, measure in enumerate(task.names)
        if rows[Service.name][place] + 0.0005 < max(values[place] for values in rows.values())
    ]
    print(f"median time of a search: {1000 * statistics.median(seconds):.0f} ms", end="")
    print(f"; behind in {', '.join(behind)}" if behind else "", flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.evaluate", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--set", nargs="*", dest="names", help="only these sets")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--questions", type=int, help="only so many of each set")
    parser.add_argument("--documents", type=int, help="only so many of each set; questions about others are left out")
    parser.add_argument("--keep", type=Path, help="a folder in which everything stays for the next run")
    return parser.parse_args()


def _chosen(options: argparse.Namespace) -> Iterator[EvaluationSet]:
    for folder in [options.folder, *sorted(options.folder.iterdir())]:
        if not (folder / f"qrels.{options.split}.tsv").is_file() or (
            options.names and folder.name not in options.names
        ):
            continue
        data = read_set(folder, options.split)
        documents = data.documents[: options.documents]
        kept = {document["id"] for document in documents}
        questions = [one for one in data.questions if one.relevant.keys() <= kept][: options.questions]
        yield EvaluationSet(data.name, documents, questions, data.whole)


@contextlib.contextmanager
def _folder(options: argparse.Namespace) -> Iterator[Path]:
    if options.keep is not None:
        options.keep.mkdir(parents=True, exist_ok=True)
        yield options.keep
        return
    with tempfile.TemporaryDirectory(prefix="context-repo-eval-") as folder:
        yield Path(folder)


def _evaluate(stack: Stack, url: str, folder: Path, workspace: Workspace) -> None:
    kept = Kept(folder)
    name = f"{workspace.name}-{len(workspace.stored)}"
    known = kept.get(name)
    key = known["key"] if known else stack.user(f"{name}@example.test")
    with httpx2.Client(base_url=url, headers={"Authorization": f"API-Key {key}"}, timeout=120) as client:
        service = Service(client, known and known["state"])
        if known is None:
            service.load(workspace)
            kept.put(name, {"key": key, "state": service.state})
        service.wait()
        for task in workspace.tasks:
            service.seconds.clear()
            own = mean(task.judge(service.rank(task, one), one) for one in task.questions)
            _print(task, {service.name: own} | _baselines(task, folder), service.seconds)


def main() -> int:
    """Evaluate the chosen sets; 2 when there are none."""
    options = _options()
    found = list(_chosen(options))
    if not found:
        print(f"no set with the split {options.split!r} in {options.folder}", file=sys.stderr)
        return 2
    with _folder(options) as folder, stacks.running(folder) as stack, _serving(stack) as url:
        for data in found:
            for workspace in workspaces(data):
                _evaluate(stack, url, folder, workspace)
    return 0


if __name__ == "__main__":
    sys.exit(main())
