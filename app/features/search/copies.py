"""Copies of a document among the hits: it is shown once, and names the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ALIKE: Final = 0.9
"""Share of letter triples that the passages of near copies have in common."""

_ENOUGH: Final = 100
"""Characters of a passage from which on it may be one of a copy."""

_LEVEL: Final = 0.03
"""By how much of themselves the scores of near copies differ at most."""


def fold(hits: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Keep the first of several documents with one text, and name the others in its `copies`.

    Near copies count too: those that the query ranks level, by words and by meaning, for nearly the same passage. Notes
    of a line stand for themselves: they say too little to be copies, and cost no room.
    """
    kept: list[dict[str, Any]] = []
    known: dict[bytes, dict[str, Any]] = {}
    for hit in hits:
        if len(hit["highlight"] or "") < _ENOUGH:
            kept.append(hit)
            continue
        first = known.get(hit["content_digest"]) or next(
            (one for one in kept if "copies" in one and _alike(one, hit)), None
        )
        if first is None:
            first = hit | {"copies": []}
            kept.append(first)
        else:
            first["copies"].append(hit)
        known.setdefault(hit["content_digest"], first)
    return kept


def _alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    if not (one["highlight"] and other["highlight"] and all(_level(one[by], other[by]) for by in ("words", "cosine"))):
        return False
    left, right = _triples(one["highlight"]), _triples(other["highlight"])
    return len(left & right) >= _ALIKE * len(left | right)


def _level(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= _LEVEL * max(abs(one), abs(other))


def _triples(text: str) -> set[str]:
    folded = " ".join(text.casefold().split())
    return {folded[at : at + 3] for at in range(max(len(folded) - 2, 1))}
