"""Gathering the passages that a query is about, and finding chunks by ids that may be old."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from app.features.collections import service as collections
from app.features.documents.errors import DocumentNotFound
from app.features.documents.service import document_exists
from app.features.navigation import queries
from app.features.navigation.errors import ChunkNotFound
from app.features.search.schemas import COPIED_FROM
from app.features.search.service import considered, embed_question, fuse, relevance, rerank
from app.kit.markdown.chunks import SEPARATOR
from app.kit.sanitize import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    import asyncpg

    from app.features.navigation.schemas import Within
    from app.features.search.service import Meaning
    from app.gate.operation import Context
    from app.store.tx import Tx

MAX_PASSAGE: Final = 2_000
"""Characters; no passage is longer."""

_STEP: Final = 100
"""Characters of a title or heading that a reranker is shown: they must leave room for the passage."""

_SPARE, _DEEPER = 20, 200
"""Candidates that are read with the first for copies among them, and at a time where copies took their places."""

_HIDDEN: Final = "The best {:,} candidates are copies of few texts; others may stand behind them."

_CANDIDATES: Final = 60
_ALIKE: Final = 0.3
"""Share of letter triples in common from which an edited passage counts as the same one."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage that a query is about, with the revision of its document that it stands in."""

    row: asyncpg.Record
    score: float
    by_words: bool
    """Whether it has a word of the query."""
    copies: list[asyncpg.Record] = field(default_factory=list)
    """The same text in other documents, where these take no places of their own."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """Passages, best first, and how many more there were among the candidates."""

    passages: list[Passage]
    left: int
    total: int
    """Documents in scope."""
    pending: int
    """Those of them whose current text is not searchable yet."""
    by_words: bool
    """Whether words alone decided."""
    notice: str | None
    """Why words alone decided, or no reranker, or what copies may hide, where that is so."""


@dataclass(frozen=True, slots=True)
class _Ranked:
    """The candidates in their order, and what is known of each."""

    model: str
    order: list[UUID]
    words: dict[UUID, float]
    cosines: dict[UUID, float]
    spoken: set[UUID]
    bounds: dict[bool, float]
    """The highest scores of words that the query allows, of turns (True) and of other passages."""
    total: int
    pending: int

    def passage(self, row: asyncpg.Record) -> Passage:
        item: UUID = row["id"]
        bound = self.bounds[item in self.spoken]
        score = relevance(self.model, self.words.get(item), self.cosines.get(item), bound)
        return Passage(row, score, item in self.words)


async def gather(
    ctx: Context,
    text: str,
    within: Within,
    limit: int,
    seen: Sequence[UUID] = (),
    *,
    once: bool = False,
    reranked: bool = True,
) -> Gathered:
    """Find the passages in scope that are nearest to a text by words and meaning; what was seen is left out.

    With `once` a text that stands in several documents takes one place. Only where copies took places more candidates
    are looked at, as `queries.DEPTHS` has it. A reranker, if there is one, chooses and orders the best, unless they are
    not to be `reranked`.

    Raises:
        DocumentNotFound, CollectionNotFound: there is no such scope.
    """
    meaning = await embed_question(ctx, text)
    reader, ahead = ctx.principal.user_id, considered(ctx, limit) if reranked else limit
    async with ctx.snapshot() as tx:
        candidates, *deeper = queries.DEPTHS
        while True:
            ranked = await _rank(tx, within, seen, text, meaning, candidates)
            passages, read = await _read(tx, ranked, limit, ahead, reader, once=once)
            copied = any(passage.copies for passage in passages)
            hidden = copied and len(passages) < limit and len(ranked.order) >= candidates
            if not (hidden and deeper):
                break
            candidates, *deeper = deeper
        if not ranked.order:
            await _require(tx, within)
    notices = [meaning.notice, _HIDDEN.format(candidates) if hidden else None]
    if reranked:
        passages, unordered = await rerank(ctx, text, passages, _shown)
        notices.append(unordered)
    left = len(ranked.order) - read + len(passages[limit:])
    notice = " ".join(filter(None, notices)) or None
    by_words = meaning.notice is not None
    return Gathered(passages[:limit], left, ranked.total, ranked.pending, by_words, notice)


def _shown(passage: Passage) -> str:
    """Give what a reranker judges a passage by: where it stands, and its text."""
    row = passage.row
    where = SEPARATOR.join(one_line(step, _STEP) for step in (row["document_title"], *row["section_path"]))
    return f"{where}\n{row['content']}"


async def _rank(tx: Tx, within: Within, seen: Sequence[UUID], text: str, meaning: Meaning, candidates: int) -> _Ranked:
    serving = meaning.serving
    counted, *rows = await queries.rank(tx, within, seen, text, meaning.vector, serving, candidates)
    words = {row["id"]: row["words"] for row in rows if row["words"] is not None}
    near = {row["id"]: row["near"] for row in rows if row["near"] is not None}
    cosines = {row["id"]: row["cosine"] for row in rows if row["cosine"] is not None}
    spoken = {row["id"] for row in rows if row["spoken"]}
    bounds = {False: counted["bound"] or 0.0, True: counted["spoken_bound"] or 0.0}
    best = max(words, key=words.__getitem__, default=None)  # how much is said at all is judged by the best match
    order = fuse(words, near, bounds[best in spoken], meaning.weight, spoken)
    return _Ranked(serving.model, order, words, cosines, spoken, bounds, counted["total"], counted["pending"])


async def _read(
    tx: Tx, ranked: _Ranked, limit: int, ahead: int, reader: UUID, *, once: bool
) -> tuple[list[Passage], int]:
    """Read so many candidates ahead, and on until there are as many as are asked for; also tells how many were read."""
    kept: list[Passage] = []
    known: dict[str, Passage] = {}
    read, step = 0, ahead + _SPARE * once
    while len(kept) < limit and read < len(ranked.order):
        for row in await queries.read_chunks(tx, ranked.order[read : read + step], 0, MAX_PASSAGE, reader):
            text: str = row["content"]
            first = known.get(text) if once and len(text) >= COPIED_FROM else None
            if first is not None and first.row["document_id"] != row["document_id"]:
                first.copies.append(row)
            else:
                kept.append(passage := ranked.passage(row))
                known.setdefault(text, passage)
        read += step
        step = _DEEPER
    return kept, min(read, len(ranked.order))


async def _require(tx: Tx, within: Within) -> None:
    if within.document_id is not None and not await document_exists(tx, within.document_id):
        raise DocumentNotFound
    if within.collection_id is not None:
        await collections.require(tx, within.collection_id)


@dataclass(frozen=True, slots=True)
class Found:
    """A chunk, and the old id that it answers for."""

    row: asyncpg.Record
    supersedes: UUID | None = None
    notice: str | None = None


async def find_chunk(tx: Tx, chunk_id: UUID, start: int, length: int, reader: UUID) -> Found:
    """Read a chunk; an id whose text was edited or moved gives the chunk that took its place, and says so.

    Raises:
        ChunkNotFound: no chunk ever had the id, or nothing took its place.
    """
    rows = await queries.read_chunks(tx, [chunk_id], start, length, reader)
    if rows:
        return Found(rows[0])
    retired = await queries.find_retired(tx, chunk_id, MAX_PASSAGE)
    successor = await _successor(tx, retired) if retired is not None else None
    rows = await queries.read_chunks(tx, [successor], 0, length, reader) if successor is not None else []
    if retired is None or not rows:
        raise ChunkNotFound
    notice = (
        f"Chunk {chunk_id} is gone: its text was changed after revision {retired['revision']}. "
        f"This is the {retired['level']} that took its place."
    )
    return Found(rows[0], chunk_id, notice)


async def _successor(tx: Tx, retired: asyncpg.Record) -> UUID | None:
    candidates = await queries.list_successors(tx, retired, _CANDIDATES)
    if retired["level"] != "paragraph":
        same = [row["id"] for row in candidates if row["same_section"]]
        return same[0] if same else None
    wanted = _triples(retired["content"] or "")
    best, alike = None, _ALIKE
    for row in candidates:  # the nearest come first, and win a tie
        found = _triples(row["content"])
        share = len(wanted & found) / max(len(wanted | found), 1)
        if share > alike or row["content"] == retired["content"]:
            best, alike = row["id"], share
    return best


def _triples(text: str) -> set[str]:
    folded = text.casefold()
    return {folded[at : at + 3] for at in range(max(len(folded) - 2, 1))}
