"""What can be done with documents (contract: operations 8 to 14)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.features.collections import service as collections
from app.features.collections.errors import CollectionNotFound
from app.features.documents import queries
from app.features.documents.errors import DocumentNotFound, LeaseLost, LeaseRequired, VersionNotFound
from app.features.documents.schemas import (
    CreateDocument,
    DeleteDocument,
    Document,
    DocumentAck,
    DocumentItem,
    GetDocument,
    ListDocuments,
    ListVersions,
    Notice,
    PatchDocument,
    RestoreVersion,
    Status,
    Version,
)
from app.features.documents.service import index_job, read_document
from app.gate.operation import Call, Context, command, query
from app.gate.policy import Meter, Rate, Scope
from app.kit import cursor
from app.kit.errors import AppError, InvalidRequest, PreconditionConflict, PreconditionRequired, RevisionMismatch
from app.kit.ids import new_id
from app.kit.paging import clamped, fitting, paged, pagination
from app.kit.schema import One, Page

if TYPE_CHECKING:
    from collections.abc import Callable

    import asyncpg

    from app.kit.revision import Precondition


_WRITE_REFUSALS = (
    DocumentNotFound,
    RevisionMismatch,
    PreconditionConflict,
    PreconditionRequired,
    LeaseRequired,
    LeaseLost,
)


@command(
    "documents.create",
    scope=Scope.DOCUMENTS_WRITE,
    rate=Rate.API,
    single=True,
    spends=(Meter.DOCUMENTS, Meter.STORAGE_BYTES),
    raises=(InvalidRequest, CollectionNotFound),
)
async def create_document(ctx: Context, args: CreateDocument) -> One[Document]:
    """Create a document from text or Markdown. It can be read at once; search finds it when `status` is `ready`.

    With `collectionId` it is a member of that collection from the start; a key that is restricted to collections must
    name one of them.
    """
    collections.require_place(ctx, args.collection_id)
    document_id, revision_id = new_id(), new_id()
    row = await queries.insert_document(ctx, document_id, revision_id, args, _call(ctx))
    if row["outcome"] == "no_collection":
        raise CollectionNotFound
    document = Document(
        id=document_id,
        title=args.title,
        status=Status.PENDING,
        status_reason=None,
        source_type="text",
        source_url=None,
        tags=args.tags,
        current_version=1,
        revision=1,
        content_hash=row["content_hash"],
        created_at=row["decided_at"],
        last_changed_at=row["decided_at"],
        content=args.content,
        policy="standard",
    )
    return One(data=document)


@query("documents.get", scope=Scope.DOCUMENTS_READ, rate=Rate.READONLY, raises=(DocumentNotFound,))
async def get_document(ctx: Context, args: GetDocument) -> One[Document]:
    """Read a document with its content, its `revision` and its entity tag, which the next write may name."""
    return One(data=await read_document(ctx, args.document_id))


@query("documents.list", scope=Scope.DOCUMENTS_READ, rate=Rate.READONLY, raises=(CollectionNotFound,))
async def list_documents(ctx: Context, args: ListDocuments) -> Page[DocumentItem]:
    """List documents without their content, newest first."""
    limit, notice = clamped(args.limit)
    after = cursor.decode(args.cursor) if args.cursor else None
    async with ctx.snapshot() as tx:
        if args.collection_id is not None:
            await collections.require(tx, args.collection_id)
        rows = await queries.list_documents(tx, args, after, limit + 1)
    return paged(rows, limit, notice, lambda row: DocumentItem.model_validate(dict(row), by_name=True))


@command(
    "documents.update",
    scope=Scope.DOCUMENTS_WRITE,
    rate=Rate.API,
    single=True,
    spends=(Meter.STORAGE_BYTES,),
    raises=_WRITE_REFUSALS,
)
async def update_document(ctx: Context, args: PatchDocument) -> One[DocumentAck]:
    """Change title, content or tags; what is left out stays.

    Name the revision that the change is based on, in `If-Match` or `expectedRevision`, and a concurrent edit is never
    overwritten. A write that changes nothing answers `noop: true` and makes no revision.
    """
    row = await queries.update_document_if_current(ctx, args, new_id(), _call(ctx))
    return _acknowledge(args, row)


@command(
    "documents.restore",
    scope=Scope.DOCUMENTS_WRITE,
    rate=Rate.API,
    single=True,
    raises=(*_WRITE_REFUSALS, VersionNotFound),
)
async def restore_version(ctx: Context, args: RestoreVersion) -> One[DocumentAck]:
    """Make an earlier version's title, content and tags current again, as a new revision; nothing is deleted."""
    row = await queries.restore_version_if_current(ctx, args, new_id(), _call(ctx))
    return _acknowledge(args, row)


@command(
    "documents.delete",
    scope=Scope.DOCUMENTS_WRITE,
    rate=Rate.API,
    single=True,
    raises=_WRITE_REFUSALS,
)
async def delete_document(ctx: Context, args: DeleteDocument) -> None:
    """Move a document to the trash; its id answers 404 from then on."""
    row = await queries.delete_document_if_current(ctx, args, _call(ctx))
    _check(row, args.precondition)


@query("documents.versions", scope=Scope.DOCUMENTS_READ, rate=Rate.READONLY, raises=(DocumentNotFound,))
async def list_versions(ctx: Context, args: ListVersions) -> Page[Version]:
    """List a document's versions with their content, newest first; the first is the current one."""
    limit, notice = clamped(args.limit)
    after = cursor.decode(args.cursor) if args.cursor else None
    async with ctx.snapshot() as tx:
        if not await queries.document_exists(tx, args.document_id):
            raise DocumentNotFound
        rows = await queries.list_versions(tx, args.document_id, after, limit + 1)
    found, notice = fitting(rows, limit, notice)
    items = [Version.model_validate(row, by_name=True) for row in found]
    return Page(data=items, pagination=pagination(rows, len(found)), notice=notice)


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


def _check(row: asyncpg.Record, precondition: Precondition | None) -> None:
    """Raise what the outcome means, unless the write was done."""
    if (refusal := _REFUSALS.get(row["outcome"])) is not None:
        raise refusal()
    if row["outcome"] == "mismatch":
        form = precondition.form if precondition else "body"
        raise RevisionMismatch("document", form, row["revision"], row["content_hash"])


def _acknowledge(args: PatchDocument | RestoreVersion, row: asyncpg.Record) -> One[DocumentAck]:
    _check(row, args.precondition)
    acknowledged = DocumentAck(
        id=args.document_id,
        title=row["title"],
        current_version=row["current_version"],
        revision=row["revision"],
        content_hash=row["content_hash"],
        last_changed_at=row["last_changed_at"],
        noop=row["outcome"] == "noop",
        warnings=_warnings(row["missing"]),
    )
    return One(data=acknowledged)


def _warnings(missing: list[str]) -> list[Notice]:
    if not missing:
        return []
    message = "The version was kept without these fields, so their current values stay: " + ", ".join(missing) + "."
    return [Notice(code="LEGACY_PARTIAL_SNAPSHOT", message=message, fields=missing)]


def _call(ctx: Context) -> Call:
    return ctx.call(index_job(ctx.workspace_id))
