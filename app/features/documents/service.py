"""Rules of documents that other features may call."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

from app.features.documents import queries
from app.features.documents.errors import ContentTooLarge, DocumentNotFound, EditNotApplicable
from app.features.documents.schemas import MAX_CONTENT_BYTES, Document, PatchDocument
from app.kit import diff
from app.kit.markdown import EditError, edited
from app.store.jobs import Job

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from app.gate.operation import Context

P = ParamSpec("P")
R = TypeVar("R")

INDEX_JOB: Final = "index_workspace"
"""Brings the search index of one workspace up to date."""


def index_job(workspace_id: UUID) -> Job:
    """Ask for the index of a workspace to be brought up to date; asking twice costs little and loses nothing."""
    return Job(INDEX_JOB, {"workspace": str(workspace_id)}, merges=True)


async def read_document(ctx: Context, document_id: UUID) -> Document:
    """Read a document in one hot call.

    Raises:
        DocumentNotFound: absent, in the trash, or another workspace's.
    """
    row = await ctx.hot(queries.GET, document_id)
    if row is None:
        raise DocumentNotFound
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
