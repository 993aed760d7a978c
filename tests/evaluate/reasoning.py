"""`python -m tests.evaluate.reasoning FOLDER --set hotpot`: what the answers of `/v1/reason` cite of the evidence.

Every question is asked over HTTP, every citation is opened again, and its span is compared with the document as it was
stored. Printed for the service without a language model, for a model on loopback that cites all it is shown (no model
can cite more), and, where REASON_URL is set, for that one. Ends with 1 if a citation does not hold.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx2

from tests.evaluate.data import Question, Workspace, workspaces
from tests.evaluate.running import chosen, kept_folder, loaded, read_options, serving
from tests.evaluate.service import MAX_QUESTION, Service
from tests.support import stack as stacks
from tests.support.chat import little_model
from tests.support.stack import Stack

NAMES = ("asked", "answered", "citations", "that hold", "all cited", "some cited", "precision", "p50 ms")
_SHOWN = re.compile(r"^\[\[(\d+)\]\] (.*)$", re.MULTILINE)


class Judged(NamedTuple):
    """An answer: its citations, how many hold, how much of the evidence is cited and is evidence, and its time."""

    citations: int
    holding: int
    evidence: float
    precision: float
    ms: float


def judge(cited: list[str], holding: int, relevant: dict[str, int], ms: float) -> Judged:
    """Measure the documents that an answer cites against those that hold the evidence."""
    found = set(cited) & relevant.keys()
    return Judged(len(cited), holding, len(found) / len(relevant), len(found) / len(set(cited)) if cited else 0.0, ms)


def holds(opened: dict[str, Any], citation: dict[str, Any], stored: str) -> bool:
    """Tell whether a citation opens as the answer gave it, and its span is the text that was stored."""
    quote = stored[citation["startIndex"] : citation["endIndex"]]
    same = all(
        opened[name] == citation[name] for name in ("quote", "quoteHash", "documentId", "revision", "startIndex")
    )
    return same and opened["quote"] == quote and hashlib.sha256(quote.encode()).hexdigest() == opened["quoteHash"]


def _ask(client: httpx2.Client, service: Service, texts: dict[str, str], question: Question) -> Judged:
    answer = client.post("/v1/reason", json={"query": question.text[:MAX_QUESTION]}).raise_for_status().json()["data"]
    cited, holding = [], 0
    for citation in answer["citations"]:
        stored = service.state["ids"][citation["documentId"]]
        cited.append(stored)
        opened = client.get(f"/v1/citations/{citation['id']}").raise_for_status().json()["data"]
        holding += holds(opened, citation, texts[stored])
    return judge(cited, holding, question.relevant, answer["meta"]["latencyMs"])


def _cites_all(sent: dict[str, Any]) -> str:
    shown = _SHOWN.findall(sent["messages"][1]["content"])
    return "\n".join(f"Something is said about {title}. [[{number}]]" for number, title in shown) or "NO ANSWER"


@contextlib.contextmanager
def _providers() -> Iterator[dict[str, dict[str, str]]]:
    """Give the environments to measure, by the name of their rows."""
    with little_model() as model:
        model.says = _cites_all
        found = {
            "none": {"REASON_URL": ""},
            "cites all": {"REASON_URL": model.url, "REASON_MODEL": "cites-all", "REASON_CALLS_PER_DAY": "1000000"},
        }
        if os.environ.get("REASON_URL"):
            found[os.environ.get("REASON_MODEL", "")[:12]] = {}
        yield found


def _measure(stack: Stack, folder: Path, workspace: Workspace, extra: dict[str, str]) -> list[Judged]:
    texts = {row["id"]: row["text"] for row in workspace.stored}
    with serving(stack, **extra) as url, loaded(stack, url, folder, workspace) as service:
        return [_ask(service.client, service, texts, one) for one in workspace.tasks[0].questions]


def _print(name: str, found: list[Judged]) -> None:
    answered = [one for one in found if one.citations]
    total = sum(one.citations for one in found)
    shares = (
        sum(one.holding for one in found) / total if total else 1.0,
        statistics.mean(one.evidence == 1 for one in found),
        statistics.mean(one.evidence > 0 for one in found),
        statistics.mean(one.precision for one in answered) if answered else 0.0,
    )
    print(
        f"{name:12}{len(found):>12}{len(answered):>12}{total:>12}" + "".join(f"{share:12.3f}" for share in shares),
        end="",
    )
    print(f"{statistics.median(one.ms for one in found):12.0f}", flush=True)


def main() -> int:
    """Measure the chosen sets whose questions are about documents of a whole workspace; 2 when there are none."""
    options = read_options("python -m tests.evaluate.reasoning", __doc__)
    found = [data for data in chosen(options) if all(one.group is None for one in data.questions)]
    if not found:
        return 2
    good = True
    with kept_folder(options) as folder, stacks.running(folder) as stack, _providers() as providers:
        for data in found:
            workspace = workspaces(data)[0]
            print(
                f"\n{data.name}: evidence cited, by language model\n{'':12}" + "".join(f"{name:>12}" for name in NAMES)
            )
            for name, extra in providers.items():
                judged = _measure(stack, folder, workspace, extra)
                _print(name, judged)
                good = good and all(one.holding == one.citations for one in judged)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
