"""Rules of documents that other features may call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.features.collections import service as collections
from app.features.collections.errors import CollectionNotFound
from app.features.documents import queries
from app.features.documents.errors import DocumentNotFound, LeaseLost, LeaseRequired, VersionNotFound
from app.features.documents.schemas import Document, DocumentAck, Notice, Status
from app.kit.errors import AppError, PreconditionConflict, PreconditionRequired, RevisionMismatch
from app.kit.ids import new_id
from app.store.jobs import Job

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    import asyncpg

    from app.features.documents.schemas import CreateDocument, PatchDocument, RestoreVersion
    from app.gate.operation import Call, Context
    from app.kit.revision import Precondition
    from app.store.tx import Tx

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


async def document_exists(tx: Tx, document_id: UUID) -> bool:
    """Tell whether a document is there, not in the trash, and in the caller's reach."""
    return await queries.document_exists(tx, document_id)


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
    ctx: Context, args: CreateDocument, *, source_type: str = "text", source_url: str | None = None
) -> Document:
    """Create a document at revision 1, a member of the collection that is named; search finds it when it is `ready`.

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
        current_version=1,
        revision=1,
        content_hash=row["content_hash"],
        created_at=row["decided_at"],
        last_changed_at=row["decided_at"],
        content=args.content,
        policy="standard",
    )


async def change(ctx: Context, args: PatchDocument) -> DocumentAck:
    """Change a document when precondition and lease hold.

    Raises:
        AppError: one of `WRITE_REFUSALS`.
    """
    return acknowledge(args, await queries.update_document_if_current(ctx, args, new_id(), call(ctx)))


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


def check(row: asyncpg.Record, precondition: Precondition | None) -> None:
    """Raise what the outcome means, unless the write was done."""
    if (refusal := _REFUSALS.get(row["outcome"])) is not None:
        raise refusal()
    if row["outcome"] == "mismatch":
        form = precondition.form if precondition else "body"
        raise RevisionMismatch("document", form, row["revision"], row["content_hash"])


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
