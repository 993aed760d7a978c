"""Measures of one ranking against judgements, and their means."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

NAMES: Final = ("ndcg@10", "recall@5", "recall@10", "mrr@10", "recall@100")
BUDGETS: Final = (1_600, 4_000, 8_000)
SPAN_NAMES: Final = tuple(f"in {budget}" for budget in BUDGETS)

Spans = Sequence[tuple[str, int, int]]
"""Characters of documents: the document, start and end."""


def judge(ranked: Sequence[str], relevant: Mapping[str, int]) -> tuple[float, ...]:
    """Give nDCG@10 (linear gains), Recall@5 and @10, MRR@10 and Recall@100; a repeated id counts once."""
    order = list(dict.fromkeys(ranked))
    top = order[:10]
    ideal = _gain(sorted(relevant.values(), reverse=True)[:10])
    first = next((place for place, item in enumerate(top, 1) if item in relevant), None)
    return (
        _gain([relevant.get(item, 0) for item in top]) / ideal if ideal else 0.0,
        _share(top[:5], relevant),
        _share(top, relevant),
        1 / first if first else 0.0,
        _share(order[:100], relevant),
    )


def judge_spans(ranked: Spans, wanted: Spans) -> tuple[float, ...]:
    """Give the share of the wanted characters among the first so many characters.

    Spans are taken from the top as long as they fit; the first always.
    """
    needed = {(document, place) for document, start, end in wanted for place in range(start, end)}
    shares = []
    for budget in BUDGETS:
        found: set[tuple[str, int]] = set()
        left = budget
        for number, (document, start, end) in enumerate(ranked):
            left -= end - start
            if left < 0 and number:
                break
            found.update((document, place) for place in range(start, end))
        shares.append(len(needed & found) / len(needed) if needed else 0.0)
    return tuple(shares)


def mean(judged: Iterable[tuple[float, ...]]) -> tuple[float, ...]:
    """Give the mean of each measure; nothing judged is empty."""
    rows = list(judged)
    return tuple(sum(column) / len(rows) for column in zip(*rows, strict=True))


def _gain(values: Sequence[int]) -> float:
    return sum(value / math.log2(place + 2) for place, value in enumerate(values))


def _share(found: Sequence[str], relevant: Mapping[str, int]) -> float:
    return sum(item in relevant for item in found) / len(relevant) if relevant else 0.0
