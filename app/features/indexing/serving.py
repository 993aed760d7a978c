"""Which model's vectors serve a workspace, and the way from one model to the next while the old one serves.

A workspace has two slots of vectors. One serves; the other is filled in the background when the configured model is
another one, and then they change places. Where the serving model is not at hand any more, texts are found by words
until the other slot is full.
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.features.indexing.remote import EmbeddingFailed
from app.features.indexing.slots import queries as slots
from app.features.indexing.tables import DIMENSIONS
from app.gate.index import index_job
from app.store.jobs import enqueue_in

if TYPE_CHECKING:
    from uuid import UUID

    import asyncpg

    from app.features.indexing.remote import Embedder, Vector
    from app.gate.operation import Context
    from app.store.postgres import Database
    from app.store.tx import Tx

log = logging.getLogger(__name__)

EXACT_BELOW: Final = 20_000
"""Vectors of a workspace up to which all are compared; beyond, the approximate index is asked."""

QUERY_SECONDS: Final = 5.0
"""How long who searches waits for a model, however long texts may take in the background."""

_CACHE_SECONDS: Final = 5.0
_CACHED: Final = 20_000
_FILL_BATCH: Final = 64
_FILL_CHARACTERS: Final = 8_192
_FILL_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class Serving:
    """Whose vectors answer a workspace's queries, and where they are."""

    model: str
    dim: int
    slot: int
    many: bool = False
    """Whether there are so many that the approximate index is asked."""


class Embedders:
    """The configured model, and others that may still serve some workspaces."""

    def __init__(self, current: Embedder, *others: Embedder) -> None:
        self.current = current
        self._known = {embedder.name: embedder for embedder in (*others, current)}
        self._cache: dict[UUID, tuple[float, Serving]] = {}

    @classmethod
    def of(cls, embedder: Embedder | Embedders) -> Embedders:
        """Take a single model for all there is."""
        return embedder if isinstance(embedder, cls) else cls(embedder)  # type: ignore[arg-type]

    def get(self, serving: Serving) -> Embedder | None:
        """Give the model that serves; None where it is not at hand."""
        return self._known.get(serving.model)

    async def writing(self, tx: Tx) -> tuple[Serving, Embedder]:
        """Tell where vectors of new texts belong: to the model that serves, else to the one that is to."""
        row = await slots.get_serving(tx)
        if row is None:
            return Serving(self.current.name, self.current.dim, 0), self.current
        serving = Serving(row["model"], row["dim"], row["slot"])
        embedder = self.get(serving)
        if embedder is not None:
            return serving, embedder
        return Serving(self.current.name, self.current.dim, 1 - row["slot"]), self.current

    async def serving(self, ctx: Context) -> Serving:
        """Tell whose vectors answer the queries of the caller's workspace; remembered for some seconds."""
        known = self._cache.get(ctx.workspace_id)
        if known is not None and time.monotonic() < known[0]:
            return known[1]
        async with ctx.snapshot() as tx:
            row = await slots.get_serving(tx)
        serving = Serving(self.current.name, self.current.dim, 0)
        if row is not None:
            serving = Serving(row["model"], row["dim"], row["slot"], _many(row))
        if len(self._cache) >= _CACHED:
            self._cache.clear()
        self._cache[ctx.workspace_id] = (time.monotonic() + _CACHE_SECONDS, serving)
        return serving

    async def embed_query(self, serving: Serving, text: str) -> Vector | None:
        """Embed a query as the serving model does; None where that cannot be asked: words decide alone then."""
        embedder = self.get(serving)
        if embedder is None:
            return None
        try:
            async with asyncio.timeout(QUERY_SECONDS):
                return await embedder.embed_query(text)
        except (EmbeddingFailed, TimeoutError) as error:
            log.warning("a query is answered by words alone: %s", str(error) or "the model was too slow")
            return None

    async def close(self) -> None:
        """Close every model."""
        for embedder in self._known.values():
            await embedder.close()


def _many(row: asyncpg.Record) -> bool:
    return row["vectors"] > EXACT_BELOW and row["dim"] in DIMENSIONS


async def refill(database: Database, embedders: Embedders, workspace_id: UUID) -> bool:
    """Bring a workspace to the configured model for about two seconds; True when more is left to do."""
    deadline = time.monotonic() + _FILL_SECONDS
    current = embedders.current
    after = b""
    while time.monotonic() < deadline:
        async with database.snapshot(workspace_id) as snapshot:
            row = await slots.get_serving(snapshot)
            if row is None:
                return False
            if row["model"] == current.name:
                break
            place = Serving(current.name, current.dim, 1 - row["slot"])
            texts = await slots.list_unfilled(snapshot, place.slot, place.model, after, _FILL_BATCH, _FILL_CHARACTERS)
        if not texts:
            if after:  # once more from the beginning: what was written meanwhile
                after = b""
                continue
            await _flip(database, workspace_id, row["slot"], place)
            return True
        try:
            vectors = await current.embed([text["body"] for text in texts])
        except EmbeddingFailed as error:
            log.warning("the vectors of the new model wait: %s", error)
            return False
        digests = [text["text_digest"] for text in texts]
        after = digests[-1]
        async with database.tx(workspace_id) as tx:
            await slots.put_vectors(tx, place.slot, place.model, place.dim, digests, vectors)
    else:
        return True
    async with database.tx(workspace_id) as tx:
        await slots.drop_old_slot(tx)
    return False


async def _flip(database: Database, workspace_id: UUID, slot: int, place: Serving) -> None:
    """Let the filled slot serve; whatever has no vector in it yet is behind, and the index goes on with it."""
    async with database.tx(workspace_id) as tx:
        if await slots.flip(tx, slot, place.model, place.dim):
            await slots.mark_unfilled(tx, place.slot, place.model)
            await enqueue_in(tx, [index_job(workspace_id)])
