"""What the service is measured against: plain BM25, the model alone, and looking for the words as they stand."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from app.features.indexing.remote import MiniLM
from tests.evaluate.data import EvaluationSet, Question

DEPTH = 100
_WORD = re.compile(r"\w+")


def _text(document: dict[str, Any]) -> str:
    return f"{document.get('title') or ''}\n{document['text']}"


def _groups(data: EvaluationSet) -> dict[str | None, list[int]]:
    """Give the places of the documents that may answer a question of each group."""
    found: dict[str | None, list[int]] = defaultdict(list)
    for place, document in enumerate(data.documents):
        found[document.get("group")].append(place)
    return found | {None: list(range(len(data.documents)))}


class PlainBM25:
    """BM25 over lower-cased words, k1 1.2, b 0.75: no stemming, no stop words, no titles counted twice."""

    name = "bm25"

    def __init__(self, data: EvaluationSet) -> None:
        words = [_WORD.findall(_text(document).lower()) for document in data.documents]
        self._ids = [document["id"] for document in data.documents]
        self._lengths = [len(one) for one in words]
        self._average = sum(self._lengths) / max(len(words), 1)
        self._groups = {group: set(places) for group, places in _groups(data).items()}
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for place, one in enumerate(words):
            for word, count in Counter(one).items():
                self._postings[word].append((place, count))

    def rank(self, question: Question) -> list[str]:
        """Order documents for a question, best first."""
        scores: Counter[int] = Counter()
        allowed, total = self._groups[question.group], len(self._ids)
        for word in _WORD.findall(question.text.lower()):
            postings = self._postings.get(word, [])
            rarity = math.log(1 + (total - len(postings) + 0.5) / (len(postings) + 0.5))
            for place, count in postings:
                if place in allowed:
                    long = 0.25 + 0.75 * self._lengths[place] / self._average
                    scores[place] += rarity * count / (count + 1.2 * long)  # type: ignore[assignment]
        return [self._ids[place] for place, _ in scores.most_common(DEPTH)]


class Grep:
    """How many of the question's words stand in a document as they are; among equals the order of the documents."""

    name = "grep"

    def __init__(self, data: EvaluationSet) -> None:
        self._texts = [(document["id"], _text(document).lower()) for document in data.documents]
        self._groups = _groups(data)

    def rank(self, question: Question) -> list[str]:
        """Order documents for a question, best first."""
        words = set(_WORD.findall(question.text.lower()))
        found = []
        for place in self._groups[question.group]:
            item, text = self._texts[place]
            if hits := sum(word in text for word in words):
                found.append((-hits, place, item))
        return [item for _, _, item in sorted(found)[:DEPTH]]


class Dense:
    """The cosine of the model's vectors alone, of whole documents."""

    name = "dense"

    def __init__(self, data: EvaluationSet, documents: np.ndarray, questions: dict[str, np.ndarray]) -> None:
        self._ids = [document["id"] for document in data.documents]
        self._documents, self._questions = documents, questions
        self._groups = {group: np.array(places) for group, places in _groups(data).items()}

    @classmethod
    async def of(cls, data: EvaluationSet, model: MiniLM) -> Dense:
        """Embed a set."""
        documents = await _embed(model, [_text(document) for document in data.documents])
        questions = await _embed(model, [question.text for question in data.questions])
        ids = [question.id for question in data.questions]
        return cls(data, documents, dict(zip(ids, questions, strict=True)))

    def rank(self, question: Question) -> list[str]:
        """Order documents for a question, best first."""
        places = self._groups[question.group]
        cosines = self._documents[places] @ self._questions[question.id]
        return [self._ids[places[best]] for best in np.argsort(-cosines, kind="stable")[:DEPTH]]


async def _embed(model: MiniLM, texts: Sequence[str]) -> np.ndarray:
    return np.array(await model.embed(texts), dtype=np.float32)
