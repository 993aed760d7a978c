"""`python -m tests.evaluate FOLDER`: load sets through /v1, search through /v1, and print measures beside baselines.

FOLDER holds sets (or is one): see `tests/evaluate/data.py` for their form. Each gets a workspace of its own; a question
of a group is asked with that group as a tag, or in the collection of that group where it is about passages.
`--keep FOLDER` keeps what was loaded: the next run searches it again, after the worker has brought its index up to
date. The settings `RERANK_*` of the environment are the service's: with `RERANK_URL` and `RERANK_MODEL` it asks that
reranker. Run once without and once with it over what was kept. A search that it fails ends the run, since measures of
its absence would pass for its own; `RERANK_TRIES` makes that rare.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
from pathlib import Path

from tests.evaluate.baselines import Dense, Grep, PlainBM25
from tests.evaluate.data import Task, Workspace, workspaces
from tests.evaluate.metrics import mean
from tests.evaluate.running import chosen, kept_folder, loaded, read_options, serving
from tests.evaluate.service import Service
from tests.support import stack as stacks
from tests.support.stack import Stack

Rows = dict[str, tuple[float, ...]]


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


def _evaluate(stack: Stack, url: str, folder: Path, workspace: Workspace) -> None:
    with loaded(stack, url, folder, workspace) as service:
        for task in workspace.tasks:
            service.seconds.clear()
            own = mean(task.judge(service.rank(task, one), one) for one in task.questions)
            _print(task, {service.name: own} | _baselines(task, folder), service.seconds)


def main() -> int:
    """Evaluate the chosen sets; 2 when there are none."""
    options = read_options("python -m tests.evaluate", __doc__)
    if not (found := chosen(options)):
        return 2
    with kept_folder(options) as folder, stacks.running(folder) as stack, serving(stack) as url:
        for data in found:
            for workspace in workspaces(data):
                _evaluate(stack, url, folder, workspace)
    return 0


if __name__ == "__main__":
    sys.exit(main())
