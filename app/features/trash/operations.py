"""What can be done with deleted items."""

from __future__ import annotations

from app.features.documents.errors import LeaseLost, LeaseRequired
from app.features.trash import queries, service
from app.features.trash.errors import TrashedItemNotFound
from app.features.trash.schemas import (
    ListTrash,
    PurgedItem,
    PurgeItem,
    RestoredItem,
    RestoreItem,
    TrashedItem,
    TrashedItemId,
    TrashKind,
)
from app.gate.operation import Context, command, query
from app.gate.policy import Meter, Rate, Scope
from app.kit import cursor
from app.kit.paging import clamped, paged
from app.kit.schema import One, Page

READ_SCOPES = (Scope.DOCUMENTS_READ, Scope.PROMPTS_READ)
WRITE_SCOPES = (Scope.DOCUMENTS_WRITE, Scope.PROMPTS_WRITE)
_OWN = frozenset({"revisions", "versions", "labels", "chunks", "postings", "sources", "files"})
"""Counts of rows that are the item's alone; the others tell what else there is, which a narrow key may not know."""
_SHOWN = ("id", "kind", "title", "deleted_at", "expires_at")


@query("trash.list", scope=READ_SCOPES, rate=Rate.READONLY)
async def list_trash(ctx: Context, args: ListTrash) -> Page[TrashedItem]:
    """List deleted items that the credential may read, the last deleted first; each is purged 30 days later."""
    kinds = [kind for kind, found in service.bins().items() if found.read in ctx.principal.scopes]
    if args.kind is not None:
        kinds = [kind for kind in kinds if kind == args.kind]
    limit, notice = clamped(args.limit)
    after = cursor.decode(args.cursor) if args.cursor else None
    async with ctx.snapshot() as tx:
        rows = await queries.list_trash(tx, kinds, after, limit + 1)
    return paged(rows, limit, notice, lambda row: TrashedItem(**{name: row[name] for name in _SHOWN}))


@command(
    "trash.restore",
    scope=WRITE_SCOPES,
    rate=Rate.API,
    spends=(Meter.DOCUMENTS, Meter.PROMPTS, Meter.COLLECTIONS),
    raises=(TrashedItemNotFound, LeaseRequired, LeaseLost),
)
async def restore_item(ctx: Context, args: RestoreItem) -> One[RestoredItem]:
    """Take an item out of the trash as it was: with its versions, and in the collections that it was in.

    A lease-managed document needs its lease, while that is live.
    """
    kind = await _kind(ctx, args)
    revision = await service.bins()[kind].restore(ctx, args.item_id, args)
    if revision is None:
        raise TrashedItemNotFound
    ctx.emit(f"{kind}.restored", args.item_id, revision)
    return One(data=RestoredItem(id=args.item_id, kind=TrashKind(kind), revision=revision))


@command("trash.purge", scope=WRITE_SCOPES, rate=Rate.API, raises=(TrashedItemNotFound, LeaseRequired, LeaseLost))
async def purge_item(ctx: Context, args: PurgeItem) -> One[PurgedItem]:
    """Remove a deleted item for good: texts, versions, search index, memberships, stored answers.

    Nothing brings it back. The answer tells how much of what was removed. Only the id and the revision stay, so that
    neither is used again. A lease-managed document needs its lease, while that is live.
    """
    kind = await _kind(ctx, args)
    purged = await service.purge(ctx.tx, kind, args.item_id, args)
    if purged is None:
        raise TrashedItemNotFound
    revision, counts = purged
    if ctx.principal.collections is not None:
        counts = {name: count for name, count in counts.items() if name in _OWN}
    ctx.emit(f"{kind}.purged", args.item_id, revision)
    return One(data=PurgedItem(id=args.item_id, kind=TrashKind(kind), purged=counts))


async def _kind(ctx: Context, args: TrashedItemId) -> str:
    kinds = [kind for kind, found in service.bins().items() if found.write in ctx.principal.scopes]
    kind = await queries.get_kind(ctx.tx, kinds, args.item_id)
    if kind is None:
        raise TrashedItemNotFound
    return kind
