"""Read a set of documents, questions and judgements, and make of it what is stored and what is asked.

A set is a folder: `corpus.jsonl[.gz]` (id, title, text, group), `queries.<split>.jsonl` (id, text, group) and
`qrels.<split>.tsv`. Documents with `speaker`, `session` and `date` are turns of conversations: a document is stored for
each session, its turns are looked for as passages. `docs.jsonl[.gz]` (id, text) beside a corpus whose documents say
`doc`, `start` and `end` are long documents, and `spans` of a question the characters that answer it.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tests.evaluate import metrics
from tests.evaluate.metrics import Spans

Row = dict[str, Any]


@dataclass(frozen=True)
class Question:
    """A question with what was judged relevant; only documents of its group may answer it."""

    id: str
    text: str
    group: str | None
    relevant: dict[str, int]
    spans: Spans = ()


@dataclass(frozen=True)
class EvaluationSet:
    """Documents and judged questions."""

    name: str
    documents: list[Row]
    questions: list[Question]
    whole: list[Row] = field(default_factory=list)


class Passage(NamedTuple):
    """A passage that the service gave: of which stored document, and its text."""

    stored: str
    text: str


@dataclass(frozen=True)
class Task:
    """What is asked of a workspace, and how the answers are measured.

    `units` are what the baselines order; the service orders stored documents, or passages where `place` tells which
    units a passage is.
    """

    name: str
    units: list[Row]
    questions: list[Question]
    names: tuple[str, ...] = metrics.NAMES
    judge: Callable[[Sequence[str], Question], tuple[float, ...]] = lambda ranked, one: metrics.judge(
        ranked, one.relevant
    )
    place: Callable[[Passage], list[str]] | None = None


@dataclass(frozen=True)
class Workspace:
    """What is stored in one workspace (id, title, text, group), and what is asked there."""

    name: str
    stored: list[Row]
    tasks: list[Task]
    collections: bool = False
    """Whether the documents of a group are members of a collection too, in which passages are looked for."""


def read_set(folder: Path, split: str) -> EvaluationSet:
    """Read a folder; `split` names the half of the questions, such as `dev`.

    Raises:
        FileNotFoundError: it is no set, or has no such split.
    """
    judged: dict[str, dict[str, int]] = defaultdict(dict)
    for line in (folder / f"qrels.{split}.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        question, document, score = line.split("\t")
        if int(score) > 0:
            judged[question][document] = int(score)
    questions = [
        Question(row["id"], row["text"], row.get("group"), judged[row["id"]], _spans(row))
        for row in _rows(folder / f"queries.{split}.jsonl")
        if row["id"] in judged
    ]
    whole = [folder / name for name in ("docs.jsonl", "docs.jsonl.gz")]
    return EvaluationSet(
        folder.name,
        _rows(folder / "corpus.jsonl"),
        questions,
        _rows(whole[0]) if any(file.exists() for file in whole) else [],
    )


def workspaces(data: EvaluationSet) -> list[Workspace]:
    """Say what to store of a set, and what to ask."""
    if data.documents and "speaker" in data.documents[0]:
        return [_conversations(data)]
    groups = sorted({one.group for one in data.questions if one.group is not None})
    tasks = [Task(data.name, data.documents, data.questions)]
    if len(groups) > 1:
        tasks = [
            Task(
                f"{data.name} {group}",
                [row for row in data.documents if row.get("group") == group],
                [one for one in data.questions if one.group == group],
            )
            for group in groups
        ]
    found = [Workspace(data.name, data.documents, tasks)]
    if data.whole:
        found.append(_long_documents(data))
    return found


def _conversations(data: EvaluationSet) -> Workspace:
    sessions: dict[str, list[Row]] = defaultdict(list)
    for row in data.documents:
        sessions[row["session"]].append(row)
    turns = {row["id"]: _turn(row) for row in data.documents}
    stored = [
        {
            "id": session,
            "title": f"Conversation of {rows[0]['date']}",
            "text": "\n\n".join(turns[row["id"]] for row in rows),
            "group": rows[0]["group"],
        }
        for session, rows in sessions.items()
    ]
    of = {row["id"]: row["session"] for row in data.documents}
    whole = [Question(one.id, one.text, one.group, {of[turn]: 1 for turn in one.relevant}) for one in data.questions]
    tasks = [
        Task(f"{data.name} turns", data.documents, data.questions, place=partial(_turns, sessions, turns)),
        Task(f"{data.name} sessions", stored, whole),
    ]
    return Workspace(data.name, stored, tasks, collections=True)


def _turn(row: Row) -> str:
    text = row["text"].removeprefix(f"{row['speaker']}: ")
    return f"**{row['speaker']}** ({row['date']}): {text}"


def _turns(sessions: dict[str, list[Row]], turns: dict[str, str], passage: Passage) -> list[str]:
    rows = sessions[passage.stored]
    return [row["id"] for row in rows if turns[row["id"]] in passage.text or passage.text in turns[row["id"]]]


def _long_documents(data: EvaluationSet) -> Workspace:
    texts = {row["id"]: row["text"] for row in data.whole}
    stored = [{"id": row["id"], "title": row["id"].replace("_", " "), "text": row["text"]} for row in data.whole]
    places = {row["id"]: (row["doc"], row["start"], row["end"]) for row in data.documents}

    def place(passage: Passage) -> list[str]:
        start = texts[passage.stored].find(passage.text)
        unit = f"{passage.stored}@{start}"
        places[unit] = (passage.stored, start, start + len(passage.text))
        return [unit]

    def judge(ranked: Sequence[str], question: Question) -> tuple[float, ...]:
        return metrics.judge_spans([places[unit] for unit in ranked], question.spans)

    task = Task(f"{data.name} spans", data.documents, data.questions, metrics.SPAN_NAMES, judge, place)
    return Workspace(f"{data.name}-whole", stored, [task])


def _spans(row: Row) -> Spans:
    return tuple((row["doc"], start, end) for start, end in row.get("spans", ()))


def _rows(path: Path) -> list[Row]:
    packed = path.with_name(path.name + ".gz")
    text = path.read_text("utf-8") if path.exists() else gzip.decompress(packed.read_bytes()).decode()
    return [json.loads(line) for line in text.split("\n") if line.strip()]
