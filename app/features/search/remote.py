"""A reranking model behind HTTP: the de facto `/rerank` of Cohere, Jina, Voyage, vLLM, LocalAI and others."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pydantic_core

from app.gate.policy import Limit
from app.store.model_client import ModelClient
from app.store.patience import CallFailed, patiently

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.gate.limiter import Limiter
    from app.settings import Settings

_MAX_BODY: Final = 1024 * 1024
"""Some answers repeat the texts."""

_DAY: Final = 86_400
_BUDGET: Final = "rerank"
_FIELDS: Final = ("top_n", "top_k")
"""What the number of results is called: by nearly everybody, of whom some demand it, and by Voyage."""


@dataclass(frozen=True, slots=True)
class Terms:
    """Where the model is and what it may cost: seconds over all tries of a call, calls a day of each workspace."""

    url: str
    model: str
    key: str
    seconds: float
    tries: int
    calls_per_day: int


class Reranker:
    """Orders texts by how well they answer a question; off where no terms are given."""

    def __init__(self, terms: Terms | None, limiter: Limiter) -> None:
        self._terms = terms
        self._limiter = limiter
        self._client = _client(terms) if terms else None

    @classmethod
    def of(cls, settings: Settings, limiter: Limiter) -> Reranker:
        """Make the model of the settings."""
        if not settings.rerank_url:
            return cls(None, limiter)
        terms = Terms(
            url=settings.rerank_url,
            model=settings.rerank_model,
            key=settings.rerank_api_key.get_secret_value(),
            seconds=settings.rerank_seconds,
            tries=settings.rerank_tries,
            calls_per_day=settings.rerank_calls_per_day,
        )
        return cls(terms, limiter)

    @property
    def on(self) -> bool:
        """Whether there is a model."""
        return self._terms is not None

    async def order(self, workspace: str, question: str, texts: Sequence[str]) -> list[int]:
        """Give the places of the texts, the most relevant first; equals stay as they were. No text may be empty.

        Raises:
            CallFailed: the workspace's calls of the day are spent, or the model is away, too slow, refuses, or does
                not give each text one score.
        """
        terms = self._terms
        assert terms is not None
        return await patiently(
            lambda: self._ask(terms, workspace, question, texts), tries=terms.tries, seconds=terms.seconds
        )

    async def aclose(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()

    async def _ask(self, terms: Terms, workspace: str, question: str, texts: Sequence[str]) -> list[int]:
        assert self._client is not None
        spent = await self._limiter.spend(workspace, _BUDGET, Limit(terms.calls_per_day, _DAY))
        if not spent.allowed:
            raise CallFailed(f"the {terms.calls_per_day} calls of the day are spent")
        sent = {"model": terms.model, "query": question, "documents": list(texts)}
        scores = _scores(await self._client.post_either("/rerank", sent, _FIELDS, len(texts)), len(texts))
        return sorted(range(len(texts)), key=lambda place: -scores[place])


def _client(terms: Terms) -> ModelClient:
    return ModelClient("the reranker", terms.url, terms.key, seconds=terms.seconds, most=_MAX_BODY)


def _scores(body: bytes, count: int) -> list[float]:
    """Read the scores in the order of their texts, from `results`, or `data` as Voyage has it."""
    try:
        answer: Any = pydantic_core.from_json(body)
        rows = answer["results"] if "results" in answer else answer["data"]
        found = {row["index"]: float(row["relevance_score"]) for row in rows}
        whole = len(rows) == count and found.keys() == set(range(count))
    except (ValueError, LookupError, TypeError, OverflowError) as error:
        raise CallFailed("its answer has no form that is known") from error
    if not whole:
        raise CallFailed("its answer does not hold one score for each text")
    scores = [found[place] for place in range(count)]
    if not all(map(math.isfinite, scores)):
        raise CallFailed("its scores hold what is no number")
    return scores
