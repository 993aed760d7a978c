"""What can be done with documents (contract: operations 8 to 14)."""

from __future__ import annotations

from typing import Any

from app.features.collections import service as collections
from app.features.collections.errors import CollectionNotFound
from app.features.documents import queries, service
from app.features.documents.errors import (
    ContentTooLarge,
    DocumentNotFound,
    EditNotApplicable,
    RevisionNotFound,
    RevisionPartial,
    VersionNotFound,
)
from app.features.documents.schemas import (
    BatchAnswer,
    BatchDocuments,
    BatchOp,
    CreateDocument,
    DeleteDocument,
    DiffDocument,
    Document,
    DocumentAck,
    DocumentDiff,
    DocumentItem,
    GetDocument,
    ItemAnswer,
    LeasedDelete,
    LeasedPatch,
    ListDocuments,
    ListRevisions,
    ListVersions,
    PatchDocument,
    RestoreVersion,
    Revision,
    Version,
)
from app.features.documents.service import compare, read_as_of, read_document, read_text_as_of
from app.gate.operation import Context, Operation, command, query
from app.gate.policy import Meter, Rate, Scope
from app.gate.ports import Wording
from app.kit import cursor
from app.kit.asof import point
from app.kit.errors import AppError, InvalidRequest, Kind
from app.kit.ids import new_id
from app.kit.paging import clamped, fitting, paged, pagination, place_after
from app.kit.schema import Model, One, Page

_THEN = (DocumentNotFound, RevisionNotFound, RevisionPartial)


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
    return One(data=await service.create(ctx, args))


@query("documents.get", scope=Scope.DOCUMENTS_READ, rate=Rate.READONLY, raises=_THEN)
async def get_document(ctx: Context, args: GetDocument) -> One[Document]:
    """Read a document with its content, its `revision` and its entity tag, which the next write may name.

    `asOf`, a revision or a time, gives title, tags and content as of then; `status` and `policy` are those of now.
    """
    if args.as_of is None:
        return One(data=await read_document(ctx, args.document_id))
    async with ctx.snapshot() as tx:
        return One(data=await read_as_of(tx, args.document_id, point(args.as_of), ctx.principal.user_id))


@query("documents.diff", scope=Scope.DOCUMENTS_READ, rate=Rate.READONLY, raises=_THEN)
async def diff_document(ctx: Context, args: DiffDocument) -> One[DocumentDiff]:
    """Compare two revisions of a document, by line and by section.

    `from` and `to` are revisions or times; `to` is the current revision unless given.
    """
    reader = ctx.principal.user_id
    async with ctx.snapshot() as tx:
        old = await read_text_as_of(tx, args.document_id, point(args.from_), reader)
        new = await read_text_as_of(tx, args.document_id, point(args.to) if args.to is not None else None, reader)
    return One(data=await compare(old, new))


@query("documents.list", scope=Scope.DOCUMENTS_READ, rate=Rate.READONLY, raises=(CollectionNotFound,))
async def list_documents(ctx: Context, args: ListDocuments) -> Page[DocumentItem]:
    """List documents without their content, newest first or by `sort`."""
    limit, notice = clamped(args.limit)
    place = place_after(args.cursor, args.sort)
    async with ctx.snapshot() as tx:
        if args.collection_id is not None:
            await collections.require(tx, args.collection_id)
        rows = await queries.list_documents(tx, args, place, limit + 1, ctx.principal.user_id)
    return paged(rows, limit, notice, lambda row: DocumentItem.model_validate(dict(row), by_name=True), args.sort)


@command(
    "documents.update",
    scope=Scope.DOCUMENTS_WRITE,
    rate=Rate.API,
    single=lambda args: args.edits is None,
    spends=(Meter.STORAGE_BYTES,),
    raises=(*service.WRITE_REFUSALS, EditNotApplicable, ContentTooLarge),
)
async def update_document(ctx: Context, args: PatchDocument) -> One[DocumentAck]:
    """Change title, content or tags; what is left out stays.

    `edits` change parts of the content in place of the whole: each in a section or around an exact text, all looked up
    in the current text, and made all or none.

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


_ITEMS: dict[str, tuple[Operation[Any, Any], type[Model], int]] = {
    BatchOp.CREATE: (create_document, CreateDocument, 201),
    BatchOp.UPDATE: (update_document, LeasedPatch, 200),
    BatchOp.DELETE: (delete_document, LeasedDelete, 204),
}
"""What the items of a batch run, with the status of their success."""


@command("documents.batch", scope=Scope.DOCUMENTS_WRITE, rate=Rate.API, items=True)
async def batch_documents(ctx: Context, args: BatchDocuments) -> BatchAnswer:
    """Create, update and delete up to 500 documents in one call: each item is written, or refused, for itself.

    The answer is 200 with a status for each item. With an `Idempotency-Key` each item has a receipt under its own
    `idempotencyKey`, else under the header's with `#` and its index: a batch that was cut off is sent again as it was.
    After an item that is 503 the others are not tried.
    """
    answers: list[ItemAnswer] = []
    away: AppError | None = None
    for number, item in enumerate(args.items):
        try:
            if away is not None:
                raise away
            answers.append(await _run_item(ctx, number, item))
        except AppError as error:
            away = error if error.kind is Kind.UNAVAILABLE else None
            described = ctx.get(Wording).describe(error, ctx.request_id)
            answers.append(ItemAnswer(status=described["code"], error=described))
    return BatchAnswer(data=answers)


async def _run_item(ctx: Context, number: int, item: dict[str, Any]) -> ItemAnswer:
    assert ctx.item is not None
    raw = dict(item)
    name, key = raw.pop("op", None), raw.pop("idempotencyKey", None)
    if not isinstance(name, str) or name not in _ITEMS:
        msg = f"op: must be one of {', '.join(_ITEMS)}"
        raise InvalidRequest(msg, details=[{"field": "op", "message": msg}])
    if key is not None and not isinstance(key, str):
        msg = "idempotencyKey: must be a text"
        raise InvalidRequest(msg, details=[{"field": "idempotencyKey", "message": msg}])
    operation, model, status = _ITEMS[name]
    result = await ctx.item(operation, model, raw, number, key)
    return ItemAnswer(status=status, data=result.data if result is not None else None)


@query("documents.versions", scope=Scope.DOCUMENTS_READ, rate=Rate.READONLY, raises=(DocumentNotFound,))
async def list_versions(ctx: Context, args: ListVersions) -> Page[Version]:
    """List a document's versions with their content, newest first; the first is the current one."""
    limit, notice = clamped(args.limit)
    after = cursor.decode(args.cursor) if args.cursor else None
    async with ctx.snapshot() as tx:
        if not await queries.document_exists(tx, args.document_id):
            raise DocumentNotFound
        rows = await queries.list_versions(tx, args.document_id, after, limit + 1, ctx.principal.user_id)
    found, notice = fitting(rows, limit, notice)
    items = [Version.model_validate(row, by_name=True) for row in found]
    return Page(data=items, pagination=pagination(rows, len(found)), notice=notice)


@query("documents.revisions", scope=Scope.DOCUMENTS_READ, rate=Rate.READONLY, raises=(DocumentNotFound,))
async def list_revisions(ctx: Context, args: ListRevisions) -> Page[Revision]:
    """List every revision of a document without its content, newest first: changes of title and tags too."""
    limit, notice = clamped(args.limit)
    after = cursor.decode(args.cursor) if args.cursor else None
    async with ctx.snapshot() as tx:
        if not await queries.document_exists(tx, args.document_id):
            raise DocumentNotFound
        rows = await queries.list_revisions(tx, args.document_id, after, limit + 1, ctx.principal.user_id)
    return paged(rows, limit, notice, lambda row: Revision.model_validate(dict(row), by_name=True))
