"""Answers without a model: the sentences that answer, quoted exactly and grouped by their document."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from app.features.reason import sentences
from app.features.reason.citations import cite, mark, said_as, unmarked
from app.kit.sanitize import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from app.features.indexing.service import Embedder, Vector
    from app.features.navigation.service import Passage
    from app.features.reason.question import Question
    from app.features.reason.schemas import Citation

MAX_SENTENCES: Final = 8
MAX_EACH: Final = 3
"""Sentences of one passage in an answer."""

EMBEDDED: Final = 32
"""Sentences whose meaning is compared: those with the most words in common, of the best passages."""

_RELEVANT: Final = 0.42
_OF_PASSAGE: Final = 0.4
"""Share of a sentence's score that is its passage's: a question has other words than its answer.

Both are a choice between answers that are missed and quotes that do not answer; `make eval` measures neither.
"""
_NEAR_BEST: Final = 0.6
"""A sentence below this share of the best one's score adds little."""

_WORDS_ALONE: Final = 0.5


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a passage, by offsets into the passage's text, and how well it answers, from 0 to 1."""

    passage: Passage
    start: int
    end: int
    coverage: float
    """Share of the question's words that it has."""
    score: float = 0.0

    @property
    def text(self) -> str:
        """The sentence as it is stored."""
        content: str = self.passage.row["content"]
        return content[self.start : self.end]

    @property
    def document_id(self) -> UUID:
        """Where it stands."""
        found: UUID = self.passage.row["document_id"]
        return found


@dataclass(frozen=True, slots=True)
class Extract:
    """An answer of quotes, with a citation for each."""

    answer: str
    citations: list[Citation]


async def extract(embedder: Embedder, question: Question, passages: Sequence[Passage]) -> Extract:
    """Choose the sentences that answer a question; nothing is said that is not quoted."""
    candidates = _candidates(question.terms, passages)
    if not candidates:
        return Extract("", [])
    wanted = await embedder.embed_query(question.text)
    vectors = await embedder.embed([item.text for item in candidates])
    scored = [_scored(item, wanted, vector) for item, vector in zip(candidates, vectors, strict=True)]
    chosen = _chosen(scored)
    pairs = _disagreements(question.terms, chosen)
    return Extract(_written(chosen, pairs), [cite(item.passage, item.start, item.end, item.score) for item in chosen])


def missing_words(question: Question, passages: Sequence[Passage]) -> list[str]:
    """List the question's words that no passage has, nor the title or headings above one."""
    said: set[str] = set()
    for passage in passages:
        row = passage.row
        said |= sentences.terms(" ".join([row["document_title"], *row["section_path"], row["content"]]))
    return [word for word in question.words if (found := sentences.terms(word)) and not found & said]


def _candidates(asked: frozenset[str], passages: Sequence[Passage]) -> list[Sentence]:
    found: dict[str, Sentence] = {}
    for passage in passages:
        content = passage.row["content"]
        for start, end in sentences.spans(content):
            share = len(asked & sentences.terms(content[start:end])) / max(len(asked), 1)
            found.setdefault(content[start:end], Sentence(passage, start, end, share))
    ranked = sorted(found.values(), key=lambda item: -item.coverage - item.passage.score)
    return ranked[:EMBEDDED]


def _scored(item: Sentence, wanted: Vector, vector: Vector) -> Sentence:
    cosine = float(np.dot(wanted.astype(np.float32), vector.astype(np.float32)))
    own = 0.5 * item.coverage + 0.5 * cosine
    score = round(min(max(own + _OF_PASSAGE * (item.passage.score - own), 0.0), 1.0), 4)
    return Sentence(item.passage, item.start, item.end, item.coverage, score)


def _chosen(scored: list[Sentence]) -> list[Sentence]:
    """Keep the best sentences, ordered by their document's best one, and within a document by its text."""
    best = max(item.score for item in scored)
    fit = [item for item in scored if item.score >= _RELEVANT or item.coverage >= _WORDS_ALONE]
    kept: list[Sentence] = []
    for item in sorted(fit, key=lambda item: -item.score):
        beside = sum(other.passage is item.passage for other in kept)
        if item.score >= best * _NEAR_BEST and beside < MAX_EACH and len(kept) < MAX_SENTENCES:
            kept.append(item)
    order = list(dict.fromkeys(item.document_id for item in kept))
    return sorted(kept, key=lambda item: (order.index(item.document_id), item.passage.row["start_index"] + item.start))


def _disagreements(asked: frozenset[str], chosen: list[Sentence]) -> list[tuple[Sentence, Sentence]]:
    """Pair statements of different documents that say different things of one subject, which the question names."""
    pairs = ((one, other) for one, other in combinations(chosen, 2) if one.document_id != other.document_id)
    return [
        (one, other)
        for one, other in pairs
        if (found := sentences.differing(one.text, other.text)) and not found & asked
    ]


def _written(chosen: list[Sentence], pairs: list[tuple[Sentence, Sentence]]) -> str:
    lines: list[str] = []
    document: UUID | None = None
    for item in chosen:
        if item.document_id != document:
            document = item.document_id
            lines += ["", f"{unmarked(one_line(item.passage.row['document_title']))}:"]
        lines.append(f"- {_quoted(item)}")
    if pairs:
        lines += ["", "These statements differ:"]
        lines += [f"- {_quoted(one)} – {_quoted(other)}" for one, other in pairs]
    return "\n".join(lines).strip()


def _quoted(item: Sentence) -> str:
    """Quote a sentence on one line; its citation has it exactly, this only as far as it cannot pass for more."""
    return f"“{said_as(item.text)}” {mark(item.passage.row['id'])}"
