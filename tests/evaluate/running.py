"""What every evaluation does: choose sets, run the service and its worker, and load the sets through /v1."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import httpx2

from app.process import stop_process
from tests.evaluate.data import EvaluationSet, Workspace, read_set
from tests.evaluate.service import Kept, Service
from tests.support import stack as stacks
from tests.support.stack import ServerProcess, Stack, start_worker

_MODELS = ("REASON_", "RERANK_", "EMBEDDINGS_")
"""Of the environment, what names models: a run measures them as the service would use them."""


@contextlib.contextmanager
def serving(stack: Stack, **extra: str) -> Iterator[str]:
    """Run a server and a worker inside the block, with the models that the environment names; gives the address."""
    models = {"RERANK_CALLS_PER_DAY": "1000000"}  # a set may have more questions than a workspace asks in a day
    models |= {name: value for name, value in os.environ.items() if name.startswith(_MODELS)} | extra
    server, worker = ServerProcess(stack.settings, extra=models), start_worker(stack, models)
    try:
        with stacks.serving(server):
            yield f"http://127.0.0.1:{server.port}"
    finally:
        stop_process(worker, signal.SIGTERM, 20)


def read_options(prog: str, description: str | None) -> argparse.Namespace:
    """Read the command line: which sets, how much of each, and where they are kept."""
    parser = argparse.ArgumentParser(prog=prog, description=description)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--set", nargs="*", dest="names", help="only these sets")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--questions", type=int, help="only so many of each set")
    parser.add_argument("--documents", type=int, help="only so many of each set; questions about others are left out")
    parser.add_argument("--keep", type=Path, help="a folder in which everything stays for the next run")
    return parser.parse_args()


def chosen(options: argparse.Namespace) -> list[EvaluationSet]:
    """Give the sets of the folder that were asked for; where there are none, say so."""
    found = list(_read(options))
    if not found:
        print(f"no set with the split {options.split!r} in {options.folder}", file=sys.stderr)
    return found


def _read(options: argparse.Namespace) -> Iterator[EvaluationSet]:
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
def kept_folder(options: argparse.Namespace) -> Iterator[Path]:
    """Give a folder for the servers' data: the one of `--keep`, or one that is deleted afterwards."""
    if options.keep is not None:
        options.keep.mkdir(parents=True, exist_ok=True)
        yield options.keep
        return
    with tempfile.TemporaryDirectory(prefix="context-repo-eval-") as folder:
        yield Path(folder)


@contextlib.contextmanager
def loaded(stack: Stack, url: str, folder: Path, workspace: Workspace) -> Iterator[Service]:
    """Give a workspace of the service that holds what is asked about, all of it indexed."""
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
        yield service
