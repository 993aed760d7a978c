"""Rules of documents that other features may call."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

from app.features.documents import queries
from app.features.documents.errors import ContentTooLarge, DocumentNotFound, EditNotApplicable, RevisionNotFound
from app.features.documents.schemas import (
    MAX_CONTENT_BYTES,
    Document,
    DocumentDiff,
    Hunk,
    PatchDocument,
    SectionChange,
)
from app.kit import diff
from app.kit.markdown import EditError, edited, sections

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from uuid import UUID

    from app.gate.operation import Context
    from app.store.tx import Tx

P = ParamSpec("P")
R = TypeVar("R")


async def read_document(ctx: Context, document_id: UUID) -> Document:
    """Read a document in one hot call.

    Raises:
        DocumentNotFound: absent, in the trash, or another workspace's.
    """
    row = await ctx.hot(queries.GET, document_id)
    if row is None:
        raise DocumentNotFound
    return Document.model_validate(dict(row), by_name=True)


async def document_exists(tx: Tx, document_id: UUID) -> bool:
    """Tell whether a document is there, not in the trash, and in the caller's reach."""
    return await queries.document_exists(tx, document_id)


async def read_as_of(tx: Tx, document_id: UUID, at: int | datetime | None) -> Document:
    """Read a document as it was at a revision or time; as it is for None.

    Raises:
        DocumentNotFound: absent, in the trash, or another workspace's.
        RevisionNotFound: it has no such revision, or its text was not kept.
    """
    row = await queries.read_as_of(tx, document_id, at)
    if row is None or None in (row["title"], row["tags"], row["content"]):
        raise RevisionNotFound if await queries.document_exists(tx, document_id) else DocumentNotFound
    return Document.model_validate(dict(row), by_name=True)


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


async def compare(old: Document, new: Document) -> DocumentDiff:
    """Compare two revisions of a document by line and by section."""
    return await beside(len(old.content) + len(new.content), _compare, old, new)


def _compare(old: Document, new: Document) -> DocumentDiff:
    before, after = diff.lines_of(old.content), diff.lines_of(new.content)
    found = diff.changes(before, after)
    hunks = _hunks(before, after, found, new.content)
    unified = diff.unified_text(before, after, _MOST_LISTED)
    whole = sum(change.old_end - change.old_start + change.new_end - change.new_start for change in found)
    listed = sum(len(hunk.removed) + len(hunk.added) for hunk in hunks)
    return DocumentDiff(
        id=new.id,
        from_revision=old.revision,
        to_revision=new.revision,
        old_title=old.title,
        new_title=new.title,
        old_tags=old.tags,
        new_tags=new.tags,
        sections=_section_changes(old.content, new.content),
        hunks=hunks,
        unified=unified,
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
