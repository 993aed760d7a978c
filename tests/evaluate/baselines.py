"""What the service is measured against: plain BM25, the model alone, and looking for the words as they stand."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from app.features.indexing.remote import MiniLM
from tests.evaluate.data import Question, Row

DEPTH = 100
_WORD = re.compile(r"\w+")


def _text(document: Row) -> str:
    return f"{document.get('title') or ''}\n{document['text']}"


def _groups(documents: list[Row]) -> dict[str | None, list[int]]:
    """Give the places of the documents that may answer a question of each group."""
    found: dict[str | None, list[int]] = defaultdict(list)
    for place, document in enumerate(documents):
        found[document.get("group")].append(place)
    return found | {None: list(range(len(documents)))}


class PlainBM25:
    """BM25 over lower-cased words, k1 1.2, b 0.75: no stemming, no stop words, no titles counted twice."""

    name = "bm25"

    def __init__(self, documents: list[Row]) -> None:
        words = [_WORD.findall(_text(document).lower()) for document in documents]
        self._ids = [document["id"] for document in documents]
        self._lengths = [len(one) for one in words]
        self._average = sum(self._lengths) / max(len(words), 1)
        self._groups = {group: set(places) for group, places in _groups(documents).items()}
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

    def __init__(self, documents: list[Row]) -> None:
        self._texts = [(document["id"], _text(document).lower()) for document in documents]
        self._groups = _groups(documents)

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

    def __init__(self, documents: list[Row], vectors: np.ndarray, questions: dict[str, np.ndarray]) -> None:
        self._ids = [document["id"] for document in documents]
        self._vectors, self._questions = vectors, questions
        self._groups = {group: np.array(places) for group, places in _groups(documents).items()}

    @classmethod
    async def of(cls, documents: list[Row], questions: list[Question], store: Path) -> Dense:
        """Embed documents and questions; `store` is a file that keeps vectors for the next time."""
        texts = [_text(document) for document in documents]
        vectors = await _embed([*texts, *(question.text for question in questions)], store)
        asked = [question.id for question in questions]
        return cls(documents, vectors[: len(texts)], dict(zip(asked, vectors[len(texts) :], strict=True)))

    def rank(self, question: Question) -> list[str]:
        """Order documents for a question, best first."""
        places = self._groups[question.group]
        cosines = self._vectors[places] @ self._questions[question.id]
        return [self._ids[places[best]] for best in np.argsort(-cosines, kind="stable")[:DEPTH]]


async def _embed(texts: Sequence[str], store: Path) -> np.ndarray:
    known = _kept(store)
    names = [hashlib.sha256(f"{MiniLM.name}\n{text}".encode()).hexdigest() for text in texts]
    missing = {name: text for name, text in zip(names, texts, strict=True) if name not in known}
    model = MiniLM(2)
    try:
        known |= dict(zip(missing, await model.embed(list(missing.values())), strict=True))
    finally:
        await model.close()
    if missing:
        np.savez(store, **known)
    return np.array([known[name] for name in names], dtype=np.float32)


def _kept(store: Path) -> dict[str, np.ndarray]:
    return dict(np.load(store)) if store.exists() else {}
