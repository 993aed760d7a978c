"""Documents as they were at a time: found literally, or ranked by words over texts that are cut and read anew.

The index knows texts as they are now. What it says is a beginning: of documents that have not changed since, it knows
whether they have the words; those that have are read as of then, and so are those that changed.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from app.features.documents.service import beside
from app.features.search.copies import fold
from app.features.search.past import queries
from app.features.search.past.queries import Piece
from app.features.search.service import rank
from app.kit.language import detect
from app.kit.markdown import Level, chunk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    import asyncpg

    from app.features.search.schemas import Search
    from app.gate.operation import Context
    from app.kit.markdown import Chunk

log = logging.getLogger(__name__)

COMPARED: Final = 200
"""Documents that are compared at most."""

BYTES: Final = 2_000_000
"""How long their texts are together at most: one that does not fit is left out, and shorter ones after it are not."""

PASSAGES: Final = 2_000
"""How many passages are compared at most: of the first documents; the others count as a whole, and show none."""

_BATCH: Final = 4_000
"""Characters whose words are counted at once. In many more a word would be counted only 256 times, as Postgres does."""


@dataclass(frozen=True, slots=True)
class Found:
    """Hits, among how many documents that existed then, and what was not looked at."""

    hits: list[dict[str, Any]]
    total: int
    notice: str | None


async def find(ctx: Context, args: Search, at: datetime, limit: int) -> Found:
    """Search documents as they were at a time; all of them literally, or some by words, as the notice says."""
    if not args.semantic:
        async with ctx.snapshot() as tx:
            rows = await queries.find_literally(tx, args.q, args.tags, at, limit, ctx.principal.user_id)
        hits = [dict(row) for row in rows if row["id"] is not None]
        return Found(hits, rows[0]["total"], _left_out(rows[0]["partial"]))
    async with ctx.snapshot() as tx:
        rows = await queries.list_candidates(tx, args.q, args.tags, at, COMPARED, ctx.principal.user_id)
        chosen = {row["id"]: row for row in _that_fit(rows)}
        texts = await queries.read_texts(tx, [row["content_digest"] for row in chosen.values()])
    cut = await beside(sum(map(len, texts.values())), _cut, chosen.values(), texts)
    async with ctx.snapshot() as tx:
        ranked = await queries.rank_texts(tx, args.q, cut.pieces)
    hits = [
        dict(chosen[hit.id])
        | {"score": hit.score}
        | (cut.passages[hit.passage] if hit.passage else {"highlight": None})
        | {"chunk_id": None}
        for hit in rank("", ranked)
    ]
    compared = cut.documents if ranked[0]["bound"] is not None else 0  # else the index knows no word of the query
    said = (_notice(compared, rows[0]["able"], rows[0]["total"]), _left_out(rows[0]["partial"]))
    return Found(fold(hits)[:limit], rows[0]["total"], " ".join(filter(None, said)))


def _that_fit(rows: Sequence[asyncpg.Record]) -> Iterator[asyncpg.Record]:
    left = BYTES
    for row in rows:
        if row["id"] is not None and row["size"] <= left:
            left -= row["size"]
            yield row


@dataclass(slots=True)
class _Cut:
    """Documents in the pieces that count for their words, with the texts of their passages and where these stand."""

    documents: int = 0
    pieces: list[Piece] = field(default_factory=list)
    passages: dict[UUID, dict[str, Any]] = field(default_factory=dict)

    def add(self, row: asyncpg.Record, text: str) -> None:
        """Add a document: the terms of a whole are those of its passages and headings, and its title's twice."""
        chunks, language = chunk(row["id"], row["title"], text), detect(f"{row['title']}\n{text}")
        whole = (row["id"], row["id"], "document", language)
        self.pieces.append(Piece(*whole, row["title"], 2))
        self.pieces.extend(Piece(*whole, batch, 1) for batch in _batches(map(_counted, chunks)))
        for part in (part for part in chunks if part.level is Level.PARAGRAPH):
            if len(self.passages) == PASSAGES:
                break
            self.passages[part.id] = {"highlight": part.content, "section_path": part.section_path}
            passage = (row["id"], part.id, "paragraph" if part.speaker is None else "turn", language)
            self.pieces.append(Piece(*passage, part.indexed_text, 1))
            if part.speaker is not None:
                self.pieces.append(Piece(*passage, part.speaker, 3))
        self.documents += 1


def _counted(part: Chunk) -> str:
    """Give what of a chunk counts for the whole document."""
    return (
        (part.heading or "") if part.level is Level.SECTION else part.content if part.level is Level.PARAGRAPH else ""
    )


def _batches(texts: Iterable[str]) -> Iterator[str]:
    """Join texts to fewer, each on lines of its own."""
    batch: list[str] = []
    for text in texts:
        batch.append(text)
        if sum(map(len, batch)) >= _BATCH:
            yield "\n".join(batch)
            batch = []
    yield "\n".join(batch)


def _cut(rows: Iterable[asyncpg.Record], texts: Mapping[bytes, str]) -> _Cut:
    cut = _Cut()
    for row in rows:
        try:
            cut.add(row, texts[row["content_digest"]])
        except Exception:  # as the index has it: a text that cannot be read as Markdown is not searched
            log.exception("document cannot be chunked", extra={"document": str(row["id"])})
    return cut


def _left_out(partial: int) -> str | None:
    if partial == 0:
        return None
    what = "1 more document was" if partial == 1 else f"{partial} more documents were"
    return f"{what} not looked at: an import kept only a part of what was there then."


def _notice(compared: int, able: int, total: int) -> str:
    said = f"Words alone decided, in the texts of then: {compared} of {total} documents were compared"
    if compared == total:
        return f"{said}."
    if compared >= able:
        return f"{said}, all that may have the words."
    return f"{said}, the others were not; semantic=false looks for the literal text in all of them."
