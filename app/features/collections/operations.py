"""What can be done with collections (contract: operations 21 to 28)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.features.collections import queries
from app.features.collections.errors import CollectionNotFound, ItemNotFound, ItemsNotFound
from app.features.collections.schemas import (
    DEFAULT_ICON,
    TOOL_ITEMS,
    Added,
    ChangedCollection,
    ChangeItems,
    Collection,
    CollectionItem,
    CreateCollection,
    DeleteCollection,
    GetCollection,
    ListCollections,
    ListItems,
    OpenCollection,
    OpenedCollection,
    PatchCollection,
    Removed,
)
from app.features.collections.service import read_collection, readable_kinds, require
from app.gate.index import index_job
from app.gate.operation import Context, command, query
from app.gate.policy import Meter, Rate, Scope
from app.kit import cursor
from app.kit.errors import PreconditionConflict, RevisionMismatch
from app.kit.ids import new_id
from app.kit.paging import clamped, paged, place_after
from app.kit.schema import One, Page

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    import asyncpg

    from app.kit.guarded import Guarded
    from app.store.tx import Tx

_GUARDED = (CollectionNotFound, RevisionMismatch, PreconditionConflict)


@query("collections.list", scope=Scope.DOCUMENTS_READ, rate=Rate.READONLY, raises=(ItemNotFound,))
async def list_collections(ctx: Context, args: ListCollections) -> Page[Collection]:
    """List collections, newest first or by `sort`, with the number of their items; all, or those that hold one item."""
    limit, notice = clamped(args.limit)
    place = place_after(args.cursor, args.sort)
    kinds = readable_kinds(ctx)
    async with ctx.snapshot() as tx:
        if args.item_id is not None and not await queries.item_exists(tx, kinds, args.item_id):
            raise ItemNotFound
        rows = await queries.list_collections(tx, kinds, args, place, limit + 1, ctx.principal.user_id)
    return paged(rows, limit, notice, lambda row: Collection.model_validate(dict(row), by_name=True), args.sort)


@command(
    "collections.create",
    scope=Scope.DOCUMENTS_WRITE,
    rate=Rate.API,
    spends=(Meter.COLLECTIONS,),
    whole_workspace=True,
)
async def create_collection(ctx: Context, args: CreateCollection) -> One[Collection]:
    """Create an empty collection."""
    collection_id = new_id()
    row = await queries.insert_collection(ctx, collection_id, args, args.icon or DEFAULT_ICON)
    ctx.emit("collection.created", collection_id, 1)
    ctx.enqueue(index_job(ctx.workspace_id))
    return One(data=Collection.model_validate(dict(row), by_name=True))


@query("collections.get", scope=Scope.DOCUMENTS_READ, rate=Rate.READONLY, raises=(CollectionNotFound,))
async def get_collection(ctx: Context, args: GetCollection) -> One[Collection]:
    """Read a collection without its items."""
    async with ctx.snapshot() as tx:
        return One(data=await read_collection(ctx, tx, args.collection_id))


@query("collections.open", scope=Scope.DOCUMENTS_READ, rate=Rate.READONLY, raises=(CollectionNotFound,))
async def open_collection(ctx: Context, args: OpenCollection) -> OpenedCollection:
    """Read a collection together with its items, the last added first."""
    after = cursor.decode(args.cursor) if args.cursor else None
    async with ctx.snapshot() as tx:
        found = await read_collection(ctx, tx, args.collection_id)
        if not args.include_items:
            return OpenedCollection(data=found)
        rows = await _list_items(ctx, tx, args.collection_id, after, TOOL_ITEMS + 1)
    page = paged(rows, TOOL_ITEMS, None, _item)
    return OpenedCollection(data=found, items=page.data, pagination=page.pagination)


@command("collections.update", scope=Scope.DOCUMENTS_WRITE, rate=Rate.API, raises=_GUARDED)
async def update_collection(ctx: Context, args: PatchCollection) -> One[ChangedCollection]:
    """Change name, description, colour, icon or tags; what is left out stays.

    A write that changes nothing answers `noop: true` and makes no revision.
    """
    icon = args.icon if args.icon is None else args.icon or DEFAULT_ICON
    row = await queries.update_collection_if_current(ctx.tx, args, icon)
    _check(row, args)
    if row["outcome"] == "written":
        ctx.emit("collection.changed", args.collection_id, row["revision"])
        ctx.enqueue(index_job(ctx.workspace_id))
    found = await read_collection(ctx, ctx.tx, args.collection_id)
    return One(data=ChangedCollection(**dict(found), noop=row["outcome"] == "noop"))


@command("collections.delete", scope=Scope.DOCUMENTS_WRITE, rate=Rate.API, raises=_GUARDED)
async def delete_collection(ctx: Context, args: DeleteCollection) -> None:
    """Move a collection to the trash; its members stay where they are."""
    row = await queries.delete_collection_if_current(ctx, args.collection_id, args.precondition)
    _check(row, args)
    ctx.emit("collection.deleted", args.collection_id, row["revision"])
    ctx.enqueue(index_job(ctx.workspace_id))


@query("collections.items", scope=Scope.DOCUMENTS_READ, rate=Rate.READONLY, raises=(CollectionNotFound,))
async def list_items(ctx: Context, args: ListItems) -> Page[CollectionItem]:
    """List the members of a collection that the caller may read, the last added first."""
    limit, notice = clamped(args.limit)
    after = cursor.decode(args.cursor) if args.cursor else None
    async with ctx.snapshot() as tx:
        await require(tx, args.collection_id)
        rows = await _list_items(ctx, tx, args.collection_id, after, limit + 1)
    return paged(rows, limit, notice, _item)


@command("collections.add_items", scope=Scope.DOCUMENTS_WRITE, rate=Rate.API, raises=(*_GUARDED, ItemsNotFound))
async def add_items(ctx: Context, args: ChangeItems) -> One[Added]:
    """Add items to a collection: all of them, or none when one is absent. Those that are members already stay."""
    if args.item_type.value not in readable_kinds(ctx):
        raise ItemsNotFound(list(dict.fromkeys(args.item_ids)))
    row = await queries.change_items_if_current(ctx.tx, args, ctx.principal.user_id)
    _check(row, args)
    if row["outcome"] == "no_items":
        missing = dict(zip(args.item_ids, args.ids, strict=True))
        raise ItemsNotFound([text for text, item in missing.items() if item in row["missing"]])
    if row["changed"]:
        ctx.emit("collection.items_added", args.collection_id, row["revision"])
    already = len(set(args.ids)) - row["changed"]
    return One(data=Added(added=row["changed"], already_in_collection=already))


@command("collections.remove_items", scope=Scope.DOCUMENTS_WRITE, rate=Rate.API, raises=_GUARDED)
async def remove_items(ctx: Context, args: ChangeItems) -> One[Removed]:
    """Remove items from a collection; the items themselves stay. Items that are no members count for nothing."""
    row = await queries.change_items_if_current(ctx.tx, args, None)
    _check(row, args)
    if row["changed"]:
        ctx.emit("collection.items_removed", args.collection_id, row["revision"])
    return One(data=Removed(removed=row["changed"]))


async def _list_items(
    ctx: Context, tx: Tx, collection_id: UUID, after: tuple[datetime, UUID] | None, limit: int
) -> list[asyncpg.Record]:
    return await queries.list_items(tx, readable_kinds(ctx), collection_id, after, limit, ctx.principal.user_id)


def _item(row: asyncpg.Record) -> CollectionItem:
    values = {name: row[name] for name in ("item_id", "item_type", "title", "added_at", "trust")}
    return CollectionItem.model_validate(values, by_name=True)


def _check(row: asyncpg.Record, args: Guarded) -> None:
    if row["outcome"] == "absent":
        raise CollectionNotFound
    if row["outcome"] == "mismatch":
        raise RevisionMismatch("collection", args.precondition, row["revision"], row["content_hash"])
