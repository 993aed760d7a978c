"""Gathering the passages that a query is about, and finding chunks by ids that may be old."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.features.collections import service as collections
from app.features.documents.errors import DocumentNotFound
from app.features.documents.service import document_exists
from app.features.navigation import queries
from app.features.navigation.errors import ChunkNotFound
from app.features.search.service import embed_question, fuse, relevance

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    import asyncpg

    from app.features.navigation.schemas import Within
    from app.gate.operation import Context
    from app.store.tx import Tx

MAX_PASSAGE: Final = 2_000
"""Characters; no passage is longer."""

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


@dataclass(frozen=True, slots=True)
class Gathered:
    """Passages, best first, how many more there were among the candidates, and documents not searchable yet."""

    passages: list[Passage]
    left: int
    pending: int
    notice: str | None
    """Why words alone decided, where they did."""


async def gather(ctx: Context, text: str, within: Within, limit: int, seen: Sequence[UUID] = ()) -> Gathered:
    """Find the passages in scope that are nearest to a text by words and meaning; what was seen is left out.

    Raises:
        DocumentNotFound, CollectionNotFound: there is no such scope.
    """
    meaning = await embed_question(ctx, text)
    serving = meaning.serving
    async with ctx.snapshot() as tx:
        counted, *candidates = await queries.rank(tx, within, seen, text, meaning.vector, serving)
        if not candidates:
            await _require(tx, within)
        found = {row["id"]: row for row in candidates}
        words = {item: row["words"] for item, row in found.items() if row["words"] is not None}
        near = {item: row["near"] for item, row in found.items() if row["near"] is not None}
        spoken = {item for item, row in found.items() if row["spoken"]}
        bound = counted["bound"] or 0.0
        ranked = fuse(words, near, bound, spoken)
        rows = await queries.read_chunks(tx, ranked[:limit], 0, MAX_PASSAGE, ctx.principal.user_id) if ranked else []
    passages = [
        Passage(
            row, relevance(serving.model, words.get(row["id"]), found[row["id"]]["cosine"], bound), row["id"] in words
        )
        for row in rows
    ]
    return Gathered(passages, len(ranked) - len(passages), counted["pending"], meaning.notice)


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
