"""What models make of a question, how ranked lists become one, and scores that mean the same of every query."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeVar

from app.features.indexing.service import Embedders, native, unlearned
from app.features.search.remote import Reranker
from app.kit.language import detect
from app.kit.sanitize import sanitize
from app.store.patience import CallFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from uuid import UUID

    import asyncpg

    from app.features.indexing.service import Serving, Vector
    from app.gate.operation import Context

K = TypeVar("K", bound=str)
T = TypeVar("T")

DENSE_WEIGHT: Final = 0.4
FOREIGN_WEIGHT: Final = 0.2
"""Of a model that is asked in a language other than its own."""

SPOKEN_WEIGHT: Final = 0.2
"""Of turns of conversations, and of whole ones: of these a model knows less."""

PART_WEIGHT: Final = 0.3
"""Of a document's best passage, beside the words of the whole."""

ENOUGH_SAID: Final = 0.2
"""Share of the query's lexical bound from which the words have their full weight."""

THRESHOLD: Final = 0.35
"""Below this a hit without a word in common is dropped."""

_CURVES: Final[dict[str, tuple[tuple[float, float], ...]]] = {
    # all-MiniLM-L6-v2: unrelated texts lie around 0.05, questions and the passages that answer them from 0.2 on
    "minilm": ((-1.0, 0.0), (0.0, 0.05), (0.1, 0.2), (0.2, 0.35), (0.4, 0.6), (0.6, 0.8), (1.0, 1.0)),
    "": ((-1.0, 0.0), (0.0, 0.05), (1.0, 1.0)),
}


_WORDED: Final = ((0.0, 0.0), (0.15, 0.35), (0.5, 0.8), (1.0, 1.0))
"""The relevance of items by the share of the query's lexical bound that their words reach."""

_UNLEARNED: Final = "Words alone decided: the embedding model has not learned the language of this query."
_AWAY: Final = "Words alone decided: the embedding model cannot be asked just now; search again later."

RERANKED: Final = 30
"""Results that a reranker is shown at most: what answers is among the first, and each text costs."""

RERANKED_CHARACTERS: Final = 2_000
"""Of each: no passage is longer, and many models read no more."""

UNRANKED: Final = "results are in the order of the search itself"


@dataclass(frozen=True, slots=True)
class Meaning:
    """Whose vectors are searched, the question's own or why there is none, and how much meaning counts beside words."""

    serving: Serving
    vector: Vector | None
    notice: str | None
    weight: float = DENSE_WEIGHT


async def embed_question(ctx: Context, text: str) -> Meaning:
    """Ask the model whose vectors serve the workspace; no snapshot may be open while it thinks."""
    embedders = ctx.get(Embedders)
    serving = await embedders.serving(ctx)
    if ctx.principal.collections is not None:  # a key's collections are a filter like tags: all are compared
        serving = replace(serving, many=False)
    language = detect(text)
    if language in unlearned(serving.model):
        return Meaning(serving, None, _UNLEARNED)
    vector = await embedders.embed_query(serving, text)
    weight = DENSE_WEIGHT if native(serving.model, language) else FOREIGN_WEIGHT
    return Meaning(serving, vector, None if vector is not None else _AWAY, weight)


def considered(ctx: Context, limit: int) -> int:
    """Tell how many results to read for a limit: where they are reranked, the best may come from behind it."""
    return max(limit, RERANKED) if ctx.get(Reranker).on else limit


async def rerank(
    ctx: Context, question: str, found: Sequence[T], text_of: Callable[[T], str]
) -> tuple[list[T], str | None]:
    """Put the first results into the reranker's order, if there is one; no snapshot may be open while it thinks.

    Those behind stay behind. Where it fails all stay as they are, and a sentence says why.
    """
    reranker, shown = ctx.get(Reranker), found[:RERANKED]
    if not reranker.on or len(shown) < 2:  # noqa: PLR2004  one result has no order
        return list(found), None
    texts = [sanitize(text_of(item))[:RERANKED_CHARACTERS] for item in shown]
    try:
        order = await reranker.order(str(ctx.workspace_id), question, texts)
    except CallFailed as error:
        return list(found), f"The reranker failed ({error}): {UNRANKED}."
    return [*(shown[place] for place in order), *found[len(shown) :]], None


@dataclass(frozen=True, slots=True)
class Hit:
    """An item that counts, with its relevance and the passage that shows why."""

    id: UUID
    score: float
    passage: UUID | None


def rank(model: str, rows: Sequence[asyncpg.Record], weight: float = DENSE_WEIGHT) -> list[Hit]:
    """Order the candidates of a kind; a hit counts for a word in common, or for enough meaning.

    The first of a kind's rows has the bound of its words (see `ranking.queries.rank`).
    """
    bound = next((row["bound"] for row in rows if row["id"] is None), None) or 0.0
    candidates = {row["id"]: row for row in rows if row["id"] is not None}
    plain = {item: row["words"] for item, row in candidates.items() if row["words"] is not None}
    words = {item: score + PART_WEIGHT * (candidates[item]["part"] or 0.0) for item, score in plain.items()}
    cosines = {item: row["cosine"] for item, row in candidates.items() if row["cosine"] is not None}
    spoken = {item for item, row in candidates.items() if row["spoken"]}
    order = fuse(words, cosines, bound * (1 + PART_WEIGHT), weight, spoken)
    hits = []
    for item in order:
        score = relevance(model, plain.get(item), cosines.get(item), bound)
        if item in plain or score >= THRESHOLD:
            hits.append(Hit(item, score, candidates[item]["passage"]))
    return hits


def fuse(
    lexical: Mapping[UUID, float],
    dense: Mapping[UUID, float],
    bound: float,
    weight: float = DENSE_WEIGHT,
    spoken: Collection[UUID] = (),
) -> list[UUID]:
    """Order ids by (1 - weight) × lexical + weight × dense, each scaled to 0–1 over its list; ties by id, for ever.

    `bound` is the highest lexical score that the query allows. Where even the best match stays far below it, the words
    say little (one common word of many), and their weight shrinks with it. Meaning counts less of what is `spoken`.
    """
    scaled = (_scaled(lexical, 1), _scaled(dense, 0))
    said = max(lexical.values(), default=0.0) / bound if bound > 0 else 1.0
    enough = min(1.0, said / ENOUGH_SAID)
    if weight >= DENSE_WEIGHT:  # where the model knows the language, a lone common word yields to what is meant
        enough *= enough
    fused = {}
    for item in {**lexical, **dense}:
        share = (SPOKEN_WEIGHT if item in spoken else weight) if dense else 0.0
        fused[item] = enough * (1 - share) * scaled[0].get(item, 0.0) + share * scaled[1].get(item, 0.0)
    return sorted(fused, key=lambda item: (-fused[item], item))


def interleave(ranked: Mapping[K, Sequence[tuple[UUID, float]]], limit: int) -> list[tuple[K, UUID]]:
    """Merge ranked lists of several kinds: the best of each, then the second of each; within a round by score.

    Fused scores of different lists cannot be compared, and no kind should hide another.
    """
    places = [(place, -score, kind, item) for kind, hits in ranked.items() for place, (item, score) in enumerate(hits)]
    return [(kind, item) for _, _, kind, item in sorted(places)[:limit]]


def _scaled(scores: Mapping[UUID, float], others: int) -> dict[UUID, float]:
    """Scale scores to 0–1 as if so many others had none: the last of few that have a word is not nothing."""
    if not scores:
        return {}
    low, high = min(scores.values()) * len(scores) / (len(scores) + others), max(scores.values())
    if high <= low:
        return dict.fromkeys(scores, 1.0)
    return {item: (score - low) / (high - low) for item, score in scores.items()}


def relevance(model: str, words: float | None, cosine: float | None, bound: float) -> float:
    """Say how relevant a hit is, by its words or its meaning, whichever says more."""
    said = worded(words, bound) if words is not None else 0.0
    return max(said, calibrated(model, cosine) if cosine is not None else 0.0)


def worded(score: float, bound: float) -> float:
    """Map a score of words to a relevance of 0 to 1; `bound` is the highest that the query allows."""
    return round(_on(_WORDED, score / bound if bound > 0 else 0.0), 4)


def calibrated(model: str, cosine: float) -> float:
    """Map a model's cosine to a relevance of 0 to 1 in which 0.35 is where a hit begins to count."""
    return round(_on(_CURVES.get(model.split("-", 1)[0], _CURVES[""]), cosine), 4)


def _on(curve: Sequence[tuple[float, float]], value: float) -> float:
    place = min(max(bisect_right(curve, (value, 2.0)), 1), len(curve) - 1)
    (left, low), (right, high) = curve[place - 1], curve[place]
    return min(max(low + (high - low) * (value - left) / (right - left), 0.0), 1.0)
