"""What can be done with documents (contract: operations 8 to 14)."""

from __future__ import annotations

from app.features.collections import service as collections
from app.features.collections.errors import CollectionNotFound
from app.features.documents import queries, service
from app.features.documents.errors import DocumentNotFound, VersionNotFound
from app.features.documents.schemas import (
    CreateDocument,
    DeleteDocument,
    Document,
    DocumentAck,
    DocumentItem,
    GetDocument,
    ListDocuments,
    ListVersions,
    PatchDocument,
    RestoreVersion,
    Version,
)
from app.features.documents.service import read_document
from app.gate.operation import Context, command, query
from app.gate.policy import Rate, Scope
from app.kit import cursor
from app.kit.errors import InvalidRequest
from app.kit.ids import new_id
from app.kit.paging import clamped, fitting, paged, pagination
from app.kit.schema import One, Page


@command(
    "documents.create",
    scope=Scope.DOCUMENTS_WRITE,
    rate=Rate.API,
    raises=(InvalidRequest, CollectionNotFound),
    single=True,
)
async def create_document(ctx: Context, args: CreateDocument) -> One[Document]:
    """Create a document from text or Markdown. It can be read at once; search finds it when `status` is `ready`.

    With `collectionId` it is a member of that collection from the start; a key that is restricted to collections must
    name one of them.
    """
    return One(data=await service.create(ctx, args))


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
    raises=service.WRITE_REFUSALS,
)
async def update_document(ctx: Context, args: PatchDocument) -> One[DocumentAck]:
    """Change title, content or tags; what is left out stays.

    Name the revision that the change is based on, in `If-Match` or `expectedRevision`, and a concurrent edit is never
    overwritten. A write that changes nothing answers `noop: true` and makes no revision.
    """
    return One(data=await service.change(ctx, args))


@command(
    "documents.restore",
    scope=Scope.DOCUMENTS_WRITE,
    rate=Rate.API,
    single=True,
    raises=(*service.WRITE_REFUSALS, VersionNotFound),
)
async def restore_version(ctx: Context, args: RestoreVersion) -> One[DocumentAck]:
    """Make an earlier version's title, content and tags current again, as a new revision; nothing is deleted."""
    row = await queries.restore_version_if_current(ctx, args, new_id(), service.call(ctx))
    return One(data=service.acknowledge(args, row))


@command(
    "documents.delete",
    scope=Scope.DOCUMENTS_WRITE,
    rate=Rate.API,
    single=True,
    raises=service.WRITE_REFUSALS,
)
async def delete_document(ctx: Context, args: DeleteDocument) -> None:
    """Move a document to the trash; its id answers 404 from then on."""
    row = await queries.delete_document_if_current(ctx, args, service.call(ctx))
    service.check(row, args.precondition)


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
