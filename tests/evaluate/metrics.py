"""Measures of one ranking against judgements, and their means."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

NAMES = ("ndcg@10", "recall@10", "mrr@10", "recall@100")


def judge(ranked: Sequence[str], relevant: Mapping[str, int]) -> tuple[float, ...]:
    """Give nDCG@10 (linear gains), Recall@10, MRR@10 and Recall@100; a repeated id counts once."""
    order = list(dict.fromkeys(ranked))
    top = order[:10]
    ideal = _gain(sorted(relevant.values(), reverse=True)[:10])
    first = next((place for place, item in enumerate(top, 1) if item in relevant), None)
    return (
        _gain([relevant.get(item, 0) for item in top]) / ideal if ideal else 0.0,
        _share(top, relevant),
        1 / first if first else 0.0,
        _share(order[:100], relevant),
    )


def mean(judged: Iterable[tuple[float, ...]]) -> tuple[float, ...]:
    """Give the mean of each measure; nothing judged is 0."""
    rows = list(judged)
    return tuple(sum(column) / len(rows) for column in zip(*rows, strict=True)) if rows else (0.0,) * len(NAMES)


def _gain(values: Sequence[int]) -> float:
    return sum(value / math.log2(place + 2) for place, value in enumerate(values))


def _share(found: Sequence[str], relevant: Mapping[str, int]) -> float:
    return sum(item in relevant for item in found) / len(relevant) if relevant else 0.0
