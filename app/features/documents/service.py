"""Rules of documents that other features may call."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

from app.features.collections import service as collections
from app.features.collections.errors import CollectionNotFound
from app.features.documents import queries
from app.features.documents.errors import (
    ContentTooLarge,
    DocumentNotFound,
    EditNotApplicable,
    LeaseLost,
    LeaseRequired,
    RevisionNotFound,
    RevisionPartial,
    VersionNotFound,
)
from app.features.documents.schemas import (
    MAX_CONTENT_BYTES,
    Document,
    DocumentAck,
    DocumentDiff,
    Hunk,
    Notice,
    PatchDocument,
    SectionChange,
    Status,
)
from app.gate.index import index_job
from app.kit import diff
from app.kit.errors import AppError, PreconditionConflict, PreconditionRequired, RevisionMismatch
from app.kit.ids import new_id
from app.kit.markdown import EditError, edited, sections
from app.kit.trust import Trust

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from uuid import UUID

    import asyncpg

    from app.features.documents.schemas import CreateDocument, RestoreVersion
    from app.gate.operation import Call, Context
    from app.kit.revision import Precondition
    from app.store.tx import Tx

TYPED: Final = "text"
"""The source type of documents whose text a caller sent as his own; any other came from outside."""

P = ParamSpec("P")
R = TypeVar("R")


async def read_document(ctx: Context, document_id: UUID) -> Document:
    """Read a document in one hot call.

    Raises:
        DocumentNotFound: absent, in the trash, or another workspace's.
    """
    row = await ctx.hot(queries.GET, document_id, ctx.principal.user_id)
    if row is None:
        raise DocumentNotFound
    return Document.model_validate(dict(row), by_name=True)


async def document_exists(tx: Tx, document_id: UUID) -> bool:
    """Tell whether a document is there, not in the trash, and in the caller's reach."""
    return await queries.document_exists(tx, document_id)


async def read_as_of(tx: Tx, document_id: UUID, at: int | datetime | None, reader: UUID | None = None) -> Document:
    """Read a document as it was at a revision or time, as it is for None; `trust` is what the reader is told.

    Raises:
        DocumentNotFound: absent, in the trash, or another workspace's.
        RevisionNotFound: it has no such revision.
        RevisionPartial: not all of it was kept by its import.
    """
    row = await _read_as_of(tx, document_id, at, reader, needed=("title", "tags", "content"))
    return Document.model_validate(dict(row), by_name=True)


async def read_text_as_of(tx: Tx, document_id: UUID, at: int | datetime | None, reader: UUID) -> asyncpg.Record:
    """Read the text of a revision, and its title and tags as far as they were kept.

    Raises:
        DocumentNotFound, RevisionNotFound: as for the whole.
        RevisionPartial: its text was not kept by its import.
    """
    return await _read_as_of(tx, document_id, at, reader, needed=("content",))


async def _read_as_of(
    tx: Tx, document_id: UUID, at: int | datetime | None, reader: UUID | None, *, needed: tuple[str, ...]
) -> asyncpg.Record:
    row = await queries.read_as_of(tx, document_id, at, reader)
    if row is None:
        raise RevisionNotFound if await queries.document_exists(tx, document_id) else DocumentNotFound
    if any(row[name] is None for name in needed):
        raise RevisionPartial(row["revision"], [name for name in ("title", "tags", "content") if row[name] is None])
    return row


_LONG: Final = 64 * 1024
"""Characters from which on a text is worked on beside the event loop."""
_MOST_COMPARED: Final = 512 * 1024
"""Bytes of a content up to which a refused write is compared with it."""
_MOST_SHOWN: Final = 20_000
"""Characters of each comparison that a refusal shows."""
_MOST_MERGED: Final = 100_000
"""Characters of a merged text that a refusal carries."""


async def beside(size: int, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run a pure function on texts of `size` characters; on long ones in a thread, so that others are served."""
    if size < _LONG:
        return function(*args, **kwargs)
    return await asyncio.to_thread(function, *args, **kwargs)


async def edited_content(args: PatchDocument, content: str, revision: int) -> str:
    """Apply the edits of a write to a content.

    Raises:
        EditNotApplicable: one of them has no place there, or several; none is applied.
        ContentTooLarge: the result would be larger than a content may be.
    """
    edits = [edit.to_text_edit() for edit in args.edits or ()]
    try:
        result = await beside(len(content), edited, content, edits)
    except EditError as error:
        raise EditNotApplicable(error, revision) from error
    if len(result) > MAX_CONTENT_BYTES // 4 and len(result.encode()) > max(MAX_CONTENT_BYTES, len(content.encode())):
        raise ContentTooLarge(MAX_CONTENT_BYTES)
    return result


async def divergence(ctx: Context, args: PatchDocument, current: int) -> dict[str, Any]:
    """Tell how a refused write and what was written meanwhile differ from their common base, and merge them.

    Empty when the write has no content, or the base's or the current content is unknown or too large to compare.
    """
    bases = [number for number in args.precondition.revisions if number < current] if args.precondition else []
    if not bases or (args.content is None and args.edits is None):
        return {}
    async with ctx.snapshot() as tx:
        found = await queries.read_contents(tx, args.document_id, [max(bases), current], _MOST_COMPARED)
    base, theirs = found.get(max(bases)), found.get(current)
    if base is None or theirs is None or len(args.content or "") > _MOST_COMPARED:
        return {}
    mine = args.content
    if mine is None:
        try:
            mine = await edited_content(args, base, max(bases))
        except (EditNotApplicable, ContentTooLarge):
            return {}
    size = len(base) + len(mine) + len(theirs)
    return {"baseRevision": max(bases)} | await beside(size, _compared, base, mine, theirs)


def _compared(base: str, mine: str, theirs: str) -> dict[str, Any]:
    lines = [diff.lines_of(text) for text in (base, mine, theirs)]
    merged = diff.merge(*lines)
    details: dict[str, Any] = {
        "theirs": diff.unified_text(lines[0], lines[2], _MOST_SHOWN),
        "yours": diff.unified_text(lines[0], lines[1], _MOST_SHOWN),
        "overlaps": [{"fromLine": start + 1, "toLine": max(start + 1, end)} for start, end in merged.conflicts],
    }
    if merged.text is not None and len(merged.text) <= _MOST_MERGED:
        details["merged"] = merged.text
    return details


_MOST_LISTED: Final = 1_000_000
"""Characters of hunks, and of the unified text, that a comparison of two revisions answers with."""


async def compare(old: asyncpg.Record, new: asyncpg.Record) -> DocumentDiff:
    """Compare two revisions of a document by line and by section."""
    return await beside(len(old["content"]) + len(new["content"]), _compare, old, new)


def _compare(old: asyncpg.Record, new: asyncpg.Record) -> DocumentDiff:
    before, after = diff.lines_of(old["content"]), diff.lines_of(new["content"])
    found = diff.changes(before, after)
    hunks = _hunks(before, after, found, new["content"])
    unified = diff.unified_text(before, after, _MOST_LISTED)
    whole = sum(change.old_end - change.old_start + change.new_end - change.new_start for change in found)
    listed = sum(len(hunk.removed) + len(hunk.added) for hunk in hunks)
    return DocumentDiff(
        id=new["id"],
        from_revision=old["revision"],
        to_revision=new["revision"],
        old_title=old["title"],
        new_title=new["title"],
        old_tags=old["tags"],
        new_tags=new["tags"],
        sections=_section_changes(old["content"], new["content"]),
        hunks=hunks,
        unified=unified,
        trust=max(old, new, key=lambda row: row["revision"])["trust"],
        truncated=listed < whole or unified.endswith(diff.cut_mark(_MOST_LISTED)),
    )


def _hunks(before: list[str], after: list[str], found: list[diff.Change], text: str) -> list[Hunk]:
    """Give the changes with their lines while these are not too many."""
    outline = sections(text) if found else []
    starts = [section.start for section in outline]
    offsets = [0, *accumulate(map(len, after))]
    hunks: list[Hunk] = []
    size = 0
    for change in found:
        removed, added = before[change.old_start : change.old_end], after[change.new_start : change.new_end]
        size += sum(map(len, removed)) + sum(map(len, added))
        if size > _MOST_LISTED:
            break
        at = bisect_right(starts, offsets[change.new_start]) - 1
        hunks.append(
            Hunk(
                old_start=change.old_start + 1,
                old_lines=len(removed),
                new_start=change.new_start + 1,
                new_lines=len(added),
                section=list(outline[at].path) if at >= 0 else [],
                removed=removed,
                added=added,
            )
        )
    return hunks


def _section_changes(old: str, new: str) -> list[SectionChange]:
    """Pair sections of one path in their order, and tell which came, went or changed, in the order of the new text."""
    before, after = _own_texts(old), _own_texts(new)
    changed = [
        SectionChange(path=list(path), change="changed" if (path, n) in before else "added")
        for (path, n), text in after.items()
        if before.get((path, n)) != text
    ]
    gone = [SectionChange(path=list(path), change="removed") for path, n in before if (path, n) not in after]
    return changed + gone


def _own_texts(text: str) -> dict[tuple[tuple[str, ...], int], str]:
    seen: Counter[tuple[str, ...]] = Counter()
    found = {}
    for section in sections(text):
        found[section.path, seen[section.path]] = text[section.start : section.end]
        seen[section.path] += 1
    return found


WRITE_REFUSALS = (
    DocumentNotFound,
    RevisionMismatch,
    PreconditionConflict,
    PreconditionRequired,
    LeaseRequired,
    LeaseLost,
)
"""What any write of a document may be refused with."""


async def create(
    ctx: Context, args: CreateDocument, *, source_type: str = TYPED, source_url: str | None = None
) -> Document:
    """Create a document at revision 1, a member of the collection that is named; search finds it when it is `ready`.

    It is at version 1, or at 0 where its text is still to come from a file.

    Raises:
        InvalidRequest: the key is restricted to collections, and none is named.
        CollectionNotFound: absent, or out of the caller's reach.
    """
    collections.require_place(ctx, args.collection_id)
    document_id, revision_id = new_id(), new_id()
    source = (source_type, source_url)
    row = await queries.insert_document(ctx, document_id, revision_id, args, source, call(ctx))
    if row["outcome"] == "no_collection":
        raise CollectionNotFound
    return Document(
        id=document_id,
        title=args.title,
        status=Status.PENDING,
        status_reason=None,
        source_type=source_type,
        source_url=source_url,
        tags=args.tags,
        current_version=row["current_version"],
        revision=1,
        content_hash=row["content_hash"],
        created_at=row["decided_at"],
        last_changed_at=row["decided_at"],
        content=args.content,
        policy="standard",
        trust=None if source_type == TYPED else Trust.EXTERNAL,
    )


async def change(ctx: Context, args: PatchDocument) -> DocumentAck:
    """Change a document when precondition and lease hold.

    Raises:
        AppError: one of `WRITE_REFUSALS`; of edits also EditNotApplicable and ContentTooLarge.
    """
    content = args.content if args.edits is None else await _edited(ctx, args)
    row = await queries.update_document_if_current(ctx, args, content, new_id(), call(ctx))
    if row["outcome"] == "mismatch" and args.precondition is not None:
        more = await divergence(ctx, args, row["revision"])
        raise RevisionMismatch("document", args.precondition, row["revision"], row["content_hash"], more)
    return acknowledge(args, row)


async def _edited(ctx: Context, args: PatchDocument) -> str | None:
    """Lock the document and apply the edits; None where the revision is not the expected one: the write says so."""
    base = await queries.lock_document(ctx, args)
    check(base, args.precondition)
    if args.precondition is not None and not args.precondition.holds(base["revision"], base["content_hash"]):
        return None
    return await edited_content(args, base["content"], base["revision"])


async def fill(tx: Tx, document_id: UUID, known_title: str, title: str | None, content: str, call: Call) -> str:
    """Write the text of a document that was made without one, and a title unless it was changed, as a job's write.

    The outcome is written, superseded (it has a text by now), absent (deleted or in the trash) or refused (managed).
    """
    row = await queries.lock_for_fill(tx, document_id)
    if row["outcome"] != "current":
        return "absent" if row["outcome"] == "absent" else "refused"
    if row["content"]:
        return "superseded"
    return await queries.fill_document(tx, document_id, known_title, title, content, new_id(), call)


_REFUSALS: dict[str, Callable[[], AppError]] = {
    "absent": DocumentNotFound,
    "no_version": VersionNotFound,
    "lease_required": LeaseRequired,
    "lease_lost": LeaseLost,
    "incomplete": lambda: PreconditionRequired(
        "A lease-managed document is written with its revision (If-Match or expectedRevision) and an Idempotency-Key; "
        "send both with the lease."
    ),
}
"""What an outcome of the write function means; the others are no refusals, or carry the current state."""


def check(row: asyncpg.Record | Mapping[str, Any], precondition: Precondition | None) -> None:
    """Raise what the outcome means, unless the write was done."""
    if (refusal := _REFUSALS.get(row["outcome"])) is not None:
        raise refusal()
    if row["outcome"] == "mismatch":
        raise RevisionMismatch("document", precondition, row["revision"], row["content_hash"])


def acknowledge(args: PatchDocument | RestoreVersion, row: asyncpg.Record) -> DocumentAck:
    """Acknowledge a write, or raise what its outcome means."""
    check(row, args.precondition)
    return DocumentAck(
        id=args.document_id,
        title=row["title"],
        current_version=row["current_version"],
        revision=row["revision"],
        content_hash=row["content_hash"],
        last_changed_at=row["last_changed_at"],
        noop=row["outcome"] == "noop",
        warnings=_warnings(row["missing"]),
    )


def _warnings(missing: list[str]) -> list[Notice]:
    if not missing:
        return []
    message = "The version was kept without these fields, so their current values stay: " + ", ".join(missing) + "."
    return [Notice(code="LEGACY_PARTIAL_SNAPSHOT", message=message, fields=missing)]


def call(ctx: Context) -> Call:
    """Describe a call that changes documents: the index follows."""
    return ctx.call(index_job(ctx.workspace_id))
