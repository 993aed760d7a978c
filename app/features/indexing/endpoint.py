"""An embedding model behind any endpoint that speaks OpenAI's embeddings; Voyage's `input_type` is sent where asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pydantic_core

from app.features.indexing.remote import EmbeddingFailed, Vector
from app.features.indexing.serving import Embedders
from app.gate.policy import Limit
from app.store.model_client import ModelClient
from app.store.patience import CallFailed, patiently

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.features.indexing.remote import Embedder
    from app.gate.limiter import Limiter
    from app.settings import Settings

_MAX_BODY: Final = 64 * 1024 * 1024
_DAY: Final = 86_400
_BUDGET: Final = "embeddings"
_EMPTY: Final = " "
"""Stands for a text without any character, which endpoints refuse."""


@dataclass(frozen=True, slots=True)
class Terms:
    """Where the model is, what it is, and what it may cost: seconds over all tries of a call, calls a day.

    `kept_as` is the name that its vectors are kept under.
    """

    url: str
    model: str
    kept_as: str
    key: str
    dim: int
    input_type: bool
    batch: int
    seconds: float
    tries: int
    calls_per_day: int


class Endpoint:
    """Embeds texts by calls, each counted against the day's budget before it is made."""

    def __init__(self, terms: Terms, limiter: Limiter) -> None:
        self._terms = terms
        self._limiter = limiter
        self._client = ModelClient("the embedding model", terms.url, terms.key, seconds=terms.seconds, most=_MAX_BODY)

    @classmethod
    def of(cls, settings: Settings, limiter: Limiter) -> Endpoint:
        """Make the model of the settings."""
        return cls(_terms(settings), limiter)

    @classmethod
    def before(cls, settings: Settings, limiter: Limiter) -> Endpoint:
        """Make the model that served before: at an address with a key of its own, or at the present one."""
        model = settings.embeddings_previous_model
        terms = replace(_terms(settings), model=model, kept_as=model, dim=settings.embeddings_previous_dimensions)
        if settings.embeddings_previous_url:
            terms = replace(
                terms,
                url=settings.embeddings_previous_url,
                key=settings.embeddings_previous_api_key.get_secret_value(),
                input_type=settings.embeddings_previous_input_type,
            )
        return cls(terms, limiter)

    @property
    def name(self) -> str:
        """What the vectors are kept under, and their dimension: the model as the endpoint knows it, or once knew it."""
        return f"{self._terms.kept_as}@{self._terms.dim}"

    @property
    def dim(self) -> int:
        """Length of every vector."""
        return self._terms.dim

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Embed passages in their order, a batch a call.

        Raises:
            EmbeddingFailed: the endpoint is away, too slow, refuses, or answers in no form that is known.
        """
        found: list[Vector] = []
        for start in range(0, len(texts), self._terms.batch):
            found += await self._call(texts[start : start + self._terms.batch], "document")
        return found

    async def embed_query(self, text: str) -> Vector:
        """Embed one query.

        Raises:
            EmbeddingFailed: as for passages.
        """
        return (await self._call([text], "query"))[0]

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _call(self, texts: Sequence[str], kind: str) -> list[Vector]:
        terms = self._terms
        try:
            return await patiently(lambda: self._ask(texts, kind), tries=terms.tries, seconds=terms.seconds)
        except CallFailed as error:
            raise EmbeddingFailed(str(error)) from error

    async def _ask(self, texts: Sequence[str], kind: str) -> list[Vector]:
        spent = await self._limiter.spend("service", _BUDGET, Limit(self._terms.calls_per_day, _DAY))
        if not spent.allowed:
            raise CallFailed(f"the {self._terms.calls_per_day} calls of the day are spent")
        sent: dict[str, Any] = {"model": self._terms.model, "input": [text or _EMPTY for text in texts]}
        if self._terms.input_type:
            sent["input_type"] = kind
        return self._vectors(await self._client.post("/embeddings", sent), len(texts))

    def _vectors(self, body: bytes, count: int) -> list[Vector]:
        """Read the vectors in the order of their texts, each scaled to length 1."""
        try:
            rows = sorted(pydantic_core.from_json(body)["data"], key=lambda row: row["index"])
            if [row["index"] for row in rows] != list(range(count)):
                raise CallFailed("its answer does not hold one vector for each text")
            found = np.array([row["embedding"] for row in rows], dtype=np.float32)
        except (ValueError, LookupError, TypeError) as error:
            raise CallFailed("its answer has no form that is known") from error
        if found.shape != (count, self._terms.dim):
            said = found.shape[-1] if found.ndim > 1 else 0
            raise CallFailed(f"its vectors have {said} numbers, but EMBEDDINGS_DIMENSIONS is {self._terms.dim}")
        if not np.isfinite(found).all():
            raise CallFailed("its vectors hold what is no number")
        units = found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)
        return list(units.astype(np.float16))


def _terms(settings: Settings) -> Terms:
    return Terms(
        url=settings.embeddings_url,
        model=settings.embeddings_model,
        kept_as=settings.embeddings_kept_as or settings.embeddings_model,
        key=settings.embeddings_api_key.get_secret_value(),
        dim=settings.embeddings_dimensions,
        input_type=settings.embeddings_input_type,
        batch=settings.embeddings_batch,
        seconds=settings.embeddings_seconds,
        tries=settings.embeddings_tries,
        calls_per_day=settings.embeddings_calls_per_day,
    )


def embedders_of(settings: Settings, local: Embedder, limiter: Limiter) -> Embedders:
    """Put together the model of the settings and those that may serve until it does: the local one, the one before."""
    before = [Endpoint.before(settings, limiter)] if settings.embeddings_previous_model else []
    if not settings.embeddings_url:
        return Embedders(local, *before)
    return Embedders(Endpoint.of(settings, limiter), local, *before)
