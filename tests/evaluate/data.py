"""Read a set: `corpus.jsonl` (id, title, text, group), `queries*.jsonl` (id, text, group) and `qrels*.tsv`."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Question:
    """A question with what was judged relevant; only documents of its group may answer it."""

    id: str
    text: str
    group: str | None
    relevant: dict[str, int]


@dataclass(frozen=True)
class EvaluationSet:
    """Documents and judged questions."""

    name: str
    documents: list[dict[str, Any]]
    questions: list[Question]


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
        Question(row["id"], row["text"], row.get("group"), judged[row["id"]])
        for row in _rows(folder / f"queries.{split}.jsonl")
        if row["id"] in judged
    ]
    return EvaluationSet(folder.name, _rows(folder / "corpus.jsonl"), questions)


def _rows(path: Path) -> list[dict[str, Any]]:
    packed = path.with_name(path.name + ".gz")
    text = path.read_text("utf-8") if path.exists() else gzip.decompress(packed.read_bytes()).decode()
    return [json.loads(line) for line in text.split("\n") if line.strip()]
