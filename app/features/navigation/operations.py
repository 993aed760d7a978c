"""What can be done with passages (contract: operations 30 to 33)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from app.features.collections.errors import CollectionNotFound
from app.features.documents.errors import DocumentNotFound
from app.features.navigation import queries
from app.features.navigation.errors import ChunkNotFound
from app.features.navigation.remote import MAX_SEEN, SESSION_SECONDS, Sessions
from app.features.navigation.schemas import (
    DEFAULT_COUNT,
    DEFAULT_PARTS,
    MAX_COUNT,
    MAX_LIMIT,
    BeginSession,
    Chunk,
    ChunkMetadata,
    Direction,
    ExpandChunk,
    FoundPassage,
    FoundPassages,
    Hierarchy,
    NearChunk,
    NearChunks,
    PassageCopy,
    PassagesMeta,
    Position,
    ReadChunk,
    SearchPassages,
    Session,
    Siblings,
)
from app.features.navigation.service import find_chunk, gather
from app.features.search.schemas import NAMED_COPIES, SearchMode
from app.gate.operation import Context, query
from app.gate.policy import Rate, Scope
from app.kit import tokens
from app.kit.errors import Unavailable
from app.kit.ids import new_id
from app.kit.markdown import path_of
from app.kit.schema import One

if TYPE_CHECKING:
    from uuid import UUID

    import asyncpg

    from app.features.navigation.service import Found, Passage
    from app.store.tx import Tx

BUDGET: Final = 5_000
"""Tokens of text in one answer: models read it twice, as text and as data, and clients cut off at 25,000."""

EACH: Final = 1_200
"""Tokens of one chunk where an answer holds several: any passage whole, a section or document cut to its beginning."""

_CHARACTERS: Final = BUDGET * tokens.CHARACTERS
_RETRY_SECONDS: Final = 2


@query("passages.session", scope=Scope.DOCUMENTS_READ, rate=Rate.API, raises=(Unavailable,))
async def begin_session(ctx: Context, args: BeginSession) -> One[Session]:  # noqa: ARG001  nothing needs to be said
    """Begin a search session: searches that name it skip the passages it already returned.

    It lives for an hour after its last use. A search without a session begins one, so that this call is rarely needed.
    """
    session_id, now = new_id(), datetime.now(UTC)
    if not await ctx.get(Sessions).begin(ctx.principal, session_id):
        msg = "Sessions cannot be kept just now; retry, or search without one."
        raise Unavailable(msg, retry_after=_RETRY_SECONDS)
    ends = now + timedelta(seconds=SESSION_SECONDS)
    return One(data=Session(session_id=session_id, created_at=now, expires_at=ends))


@query(
    "passages.search",
    scope=Scope.DOCUMENTS_READ,
    rate=Rate.API,
    raises=(DocumentNotFound, CollectionNotFound),
)
async def search_passages(ctx: Context, args: SearchPassages) -> One[FoundPassages]:
    """Find the passages of documents that are nearest to a query, by words and meaning together.

    Name `meta.sessionId` in the next search to get passages that were not returned before; a session that is not
    known (any more) begins anew. A text that stands in several documents is found once, and names the others in
    `copies`. An answer is cut where its texts would be too long for a model.
    """
    started = time.perf_counter()
    limit = min(args.limit, MAX_LIMIT)
    visit = await _visit(ctx, args)
    found = await gather(ctx, args.query, args, limit, visit.seen, once=True)
    kept = _fitting(found.passages)
    notices = [*visit.notices]
    if found.notice is not None:
        notices.append(found.notice)
    if limit < args.limit:
        notices.append(f"limit {args.limit} is over the cap; at most {MAX_LIMIT} are returned.")
    if len(kept) < len(found.passages):
        notices.append(f"These texts are long, so that this ends after {len(kept)}; search again with the session.")
    if not kept:
        notices.append(_nothing(visit, found.total))
    shown = [row["id"] for passage in kept for row in (passage.row, *passage.copies)]
    session_id = await _note(ctx, visit, shown)
    meta = PassagesMeta(
        query=args.query,
        total_results=len(kept),
        latency_ms=round((time.perf_counter() - started) * 1000),
        session_id=session_id,
        mode=SearchMode.LEXICAL if found.by_words else SearchMode.HYBRID,
        total=found.total,
        pending=found.pending,
        notice=" ".join(notices) or None,
    )
    return One(data=FoundPassages(results=[_found(passage) for passage in kept], meta=meta))


def _nothing(visit: _Visit, total: int) -> str:
    """Say why there is nothing: all of it was shown, there is nothing to find, or nothing fits."""
    if visit.seen:
        return "This session has shown all that matches."
    if not total:
        return "There is no document in this scope."
    return "Nothing in this scope has these words or a meaning near them."


@query("passages.read", scope=Scope.DOCUMENTS_READ, rate=Rate.READONLY, raises=(ChunkNotFound,))
async def read_chunk(ctx: Context, args: ReadChunk) -> One[Chunk]:
    """Read one chunk (a passage, a section or a document) with its place in the document.

    Long texts come in parts: `cursor` goes back to get the next one. An old id whose text was edited answers with the
    chunk that took its place, and says so.
    """
    start = int(args.cursor or 0)
    async with ctx.snapshot() as tx:
        found = await find_chunk(tx, args.chunk_id, start, _CHARACTERS, ctx.principal.user_id)
    return One(data=_chunk(found, start))


@query("passages.expand", scope=Scope.DOCUMENTS_READ, rate=Rate.API, raises=(ChunkNotFound,))
async def expand_chunk(ctx: Context, args: ExpandChunk) -> One[NearChunks]:
    """Go from a chunk up to what holds it, down to its parts, or along its siblings.

    `surrounding` gives the chunk between its siblings; one that is alone borrows those of the neighbouring sections.
    """
    count = min(args.count or DEFAULT_COUNT, MAX_COUNT)
    over = args.count is not None and args.count > MAX_COUNT
    reader = ctx.principal.user_id
    async with ctx.snapshot() as tx:
        found = await find_chunk(tx, args.chunk_id, 0, _CHARACTERS, reader)
        if args.direction is Direction.DOWN:
            wanted = min(args.count or DEFAULT_PARTS, MAX_COUNT)
            rows = await queries.read_parts(tx, found.row["id"], _CHARACTERS, wanted + 1, reader)
            more = len(rows) > wanted
            rows = rows[:wanted]
        else:
            rows, more = await _walk(tx, found.row, args.direction, count, reader), False
    kept = _cut(rows, args.direction, found.row["id"])
    notices = [found.notice] if found.notice else []
    if over:
        notices.append(f"count {args.count} is over the cap; at most {MAX_COUNT} are returned.")
    if more or len(kept) < len(rows):
        notices.append(_go_on(kept, args.direction))
    return One(
        data=NearChunks(
            chunks=[_near(row, BUDGET if len(rows) == 1 else EACH) for row in kept],
            supersedes=found.supersedes,
            notice=" ".join(notices) or None,
        )
    )


# -- sessions ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Visit:
    """The session of a search: None where a new one is to begin."""

    session_id: UUID | None
    seen: list[UUID]
    notices: list[str]


async def _visit(ctx: Context, args: SearchPassages) -> _Visit:
    if args.session_id is None:
        return _Visit(None, [], [])
    seen = await ctx.get(Sessions).seen(ctx.principal, args.session_id)
    if seen is None:
        return _Visit(None, [], ["This session is not known (any more); nothing was skipped."])
    return _Visit(args.session_id, seen, [])


async def _note(ctx: Context, visit: _Visit, shown: list[UUID]) -> UUID | None:
    sessions = ctx.get(Sessions)
    if visit.session_id is None:
        session_id = new_id()
        return session_id if await sessions.begin(ctx.principal, session_id, shown) else None
    if shown and len(visit.seen) < MAX_SEEN:
        await sessions.add(ctx.principal, visit.session_id, shown)
    return visit.session_id


# -- walking ----------------------------------------------------------------------------------------------------------


async def _walk(tx: Tx, row: asyncpg.Record, direction: Direction, count: int, reader: UUID) -> list[asyncpg.Record]:
    """Read the chunks in a direction other than down, in the order of the text."""
    if direction is Direction.UP:
        return await queries.read_chunks(tx, [row["parent_id"]], 0, _CHARACTERS, reader) if row["parent_id"] else []
    if direction is Direction.NEXT:
        return await queries.read_after(tx, row, _CHARACTERS, count, reader)
    if direction is Direction.PREVIOUS:
        return await queries.read_before(tx, row, _CHARACTERS, count, reader)
    if row["prev_id"] is None and row["next_id"] is None:
        near = await queries.read_around(tx, row, _CHARACTERS, count, reader)
    else:
        near = await queries.read_before(tx, row, _CHARACTERS, count, reader)
        near += await queries.read_after(tx, row, _CHARACTERS, count, reader)
    return sorted([*near, row], key=lambda item: item["ordinal"])


def _cut(rows: list[asyncpg.Record], direction: Direction, start: UUID) -> list[asyncpg.Record]:
    """Keep the chunks whose texts fit into one answer: those nearest to where the walk began."""
    places = [row["id"] for row in rows]
    origin = places.index(start) if direction is Direction.SURROUNDING else 0
    if direction is Direction.PREVIOUS:
        origin = len(rows) - 1
    nearest = sorted(range(len(rows)), key=lambda place: abs(place - origin))
    kept: set[int] = set()
    spent = 0
    for place in nearest:
        spent += min(tokens.estimate(rows[place]["content"] or ""), EACH)
        if kept and spent > BUDGET:
            break
        kept.add(place)
    return [rows[place] for place in sorted(kept)]


def _go_on(kept: list[asyncpg.Record], direction: Direction) -> str:
    if direction is Direction.PREVIOUS:
        return f"There are more: expand chunk {kept[0]['id']} with direction previous."
    return f"There are more: expand chunk {kept[-1]['id']} with direction next."


# -- shapes -----------------------------------------------------------------------------------------------------------


def _fitting(passages: list[Passage]) -> list[Passage]:
    kept: list[Passage] = []
    spent = 0
    for passage in passages:
        spent += tokens.estimate(passage.row["content"])
        if kept and spent > BUDGET:
            break
        kept.append(passage)
    return kept


def _page(row: asyncpg.Record, start: int, budget: int) -> tuple[str, str | None]:
    """Cut a text to a budget, with the cursor of what follows."""
    text = tokens.prefix(row["content"] or "", budget)
    end = start + len(text)
    return text, str(end) if text and end < row["end_index"] - row["start_index"] else None


def _found(passage: Passage) -> FoundPassage:
    row = passage.row
    return FoundPassage(
        chunk_id=row["id"],
        score=passage.score,
        level=row["level"],
        document_title=row["document_title"],
        document_id=row["document_id"],
        section_path=path_of(row["section_path"]) or None,
        content=row["content"],
        parent_id=row["parent_id"],
        trust=row["trust"],
        sibling_ids=Siblings(prev=row["prev_id"], next=row["next_id"]),
        copies=[
            PassageCopy(chunk_id=copy["id"], document_id=copy["document_id"], document_title=copy["document_title"])
            for copy in passage.copies[:NAMED_COPIES]
        ],
        more_copies=len(passage.copies[NAMED_COPIES:]),
    )


def _chunk(found: Found, start: int) -> Chunk:
    row = found.row
    content, cursor = _page(row, 0 if found.supersedes else start, BUDGET)
    position = Position(
        chunk_index=row["ordinal"],
        parent_chunk_id=row["parent_id"],
        prev_sibling_id=row["prev_id"],
        next_sibling_id=row["next_id"],
    )
    return Chunk(
        chunk_id=row["id"],
        level=row["level"],
        content=content,
        cursor=cursor,
        trust=row["trust"],
        hierarchy=Hierarchy(
            document_title=row["document_title"],
            document_id=row["document_id"],
            section_path=path_of(row["section_path"]),
            position=position,
        ),
        metadata=ChunkMetadata(
            word_count=row["word_count"],
            start_index=row["start_index"],
            end_index=row["end_index"],
            heading_text=row["heading"],
            revision=row["revision"],
        ),
        supersedes=found.supersedes,
        notice=found.notice,
    )


def _near(row: asyncpg.Record, budget: int) -> NearChunk:
    content, cursor = _page(row, 0, budget)
    return NearChunk(
        legacy_id=row["id"],
        chunk_id=row["id"],
        level=row["level"],
        chunk_index=row["ordinal"],
        document_title=row["document_title"],
        document_id=row["document_id"],
        parent_id=row["parent_id"],
        content=content,
        cursor=cursor,
        trust=row["trust"],
    )
