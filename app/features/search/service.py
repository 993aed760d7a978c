"""How ranked lists become one list: min-max fusion, and scores that mean the same from query to query."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Final, TypeVar

from app.kit.language import NOT_LATIN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

K = TypeVar("K", bound=str)

LEXICAL_WEIGHT: Final = 0.6
DENSE_WEIGHT: Final = 0.4
ENOUGH_SAID: Final = 0.25
"""Share of the query's lexical bound from which the words have their full weight."""

THRESHOLD: Final = 0.35
"""Below this a hit without a word in common is dropped."""

_CURVES: Final[dict[str, tuple[tuple[float, float], ...]]] = {
    # all-MiniLM-L6-v2: unrelated texts lie around 0.05, questions and the passages that answer them from 0.2 on
    "minilm": ((-1.0, 0.0), (0.0, 0.05), (0.1, 0.2), (0.2, 0.35), (0.4, 0.6), (0.6, 0.8), (1.0, 1.0)),
    "": ((-1.0, 0.0), (0.0, 0.05), (1.0, 1.0)),
}


_UNHELPFUL: Final[dict[str, frozenset[str]]] = {"minilm": NOT_LATIN}
"""Languages of queries in which a model, by its family, has learned nothing."""


def helps(model: str, language: str) -> bool:
    """Tell whether a model's vectors say anything about a query in a language; else words alone decide."""
    return language not in _UNHELPFUL.get(model.split("-", 1)[0], frozenset())


def fuse(lexical: Mapping[UUID, float], dense: Mapping[UUID, float], bound: float) -> list[UUID]:
    """Order ids by 0.6 × lexical + 0.4 × dense, each scaled to 0–1 over its list; ties by id, so one order for ever.

    `bound` is the highest lexical score that the query allows. Where even the best match stays far below it, the words
    say little (one common word of many), and their weight shrinks with it.
    """
    scaled = (_scaled(lexical), _scaled(dense))
    said = max(lexical.values(), default=0.0) / bound if bound > 0 else 1.0
    weight = LEXICAL_WEIGHT * min(1.0, said / ENOUGH_SAID)
    fused = {
        item: weight * scaled[0].get(item, 0.0) + DENSE_WEIGHT * scaled[1].get(item, 0.0)
        for item in {**lexical, **dense}
    }
    return sorted(fused, key=lambda item: (-fused[item], item))


def interleave(ranked: Mapping[K, Sequence[tuple[UUID, float]]], limit: int) -> list[tuple[K, UUID]]:
    """Merge ranked lists of several kinds: the best of each, then the second of each; within a round by score.

    Fused scores of different lists cannot be compared, and no kind should hide another.
    """
    places = [(place, -score, kind, item) for kind, hits in ranked.items() for place, (item, score) in enumerate(hits)]
    return [(kind, item) for _, _, kind, item in sorted(places)[:limit]]


def _scaled(scores: Mapping[UUID, float]) -> dict[UUID, float]:
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if high <= low:
        return dict.fromkeys(scores, 1.0)
    return {item: (score - low) / (high - low) for item, score in scores.items()}


def calibrated(model: str, cosine: float) -> float:
    """Map a model's cosine to a relevance of 0 to 1 in which 0.35 is where a hit begins to count."""
    curve = _CURVES.get(model.split("-", 1)[0], _CURVES[""])
    place = min(max(bisect_right(curve, (cosine, 2.0)), 1), len(curve) - 1)
    (left, low), (right, high) = curve[place - 1], curve[place]
    return round(min(max(low + (high - low) * (cosine - left) / (right - left), 0.0), 1.0), 4)
