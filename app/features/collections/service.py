"""Rules of collections that other features may call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.features.collections import queries
from app.features.collections.errors import CollectionNotFound
from app.features.collections.schemas import Collection
from app.gate.policy import Scope
from app.kit.errors import InvalidRequest

if TYPE_CHECKING:
    from uuid import UUID

    import asyncpg

    from app.gate.operation import Context
    from app.store.tx import Tx

READ_SCOPES: Final = {
    "document": Scope.DOCUMENTS_READ,
    "prompt": Scope.PROMPTS_READ,
    "collection": Scope.DOCUMENTS_READ,
}
"""The scope that reading an item of each kind takes."""


def readable_kinds(ctx: Context) -> list[str]:
    """Name the kinds of items that the caller may read."""
    return [kind for kind, scope in READ_SCOPES.items() if scope in ctx.principal.scopes]


def require_place(ctx: Context, collection_id: UUID | None) -> None:
    """Check that a new item has a place where a key that is restricted to collections can see it.

    Which collections those are, the database judges when the item becomes a member.

    Raises:
        InvalidRequest: the key is restricted, and no collection is named.
    """
    if collection_id is None and ctx.principal.collections is not None:
        msg = "required, since this key is restricted to collections; name one of them"
        raise InvalidRequest(f"collectionId: {msg}", details=[{"field": "collectionId", "message": msg}])


async def check_place(ctx: Context, collection_id: UUID | None) -> None:
    """Check, before an effect reaches outside, that a new item may have its place.

    Raises:
        InvalidRequest: the key is restricted, and no collection is named.
        CollectionNotFound: absent, in the trash, or out of the caller's reach.
    """
    require_place(ctx, collection_id)
    if collection_id is not None:
        async with ctx.snapshot() as tx:
            await require(tx, collection_id)


async def place(ctx: Context, collection_id: UUID | None, item_type: str, item_id: UUID) -> None:
    """Make an item that is about to be written a member of the collection that its caller names, if any.

    Raises:
        InvalidRequest: the key is restricted, and no collection is named.
        CollectionNotFound: absent, in the trash, or out of the caller's reach.
    """
    require_place(ctx, collection_id)
    if collection_id is not None and not await queries.place(ctx, collection_id, item_type, item_id):
        raise CollectionNotFound


async def require(tx: Tx, collection_id: UUID) -> None:
    """Check that a collection is there.

    Raises:
        CollectionNotFound: absent, in the trash, or out of the caller's reach.
    """
    if not await queries.collection_exists(tx, collection_id):
        raise CollectionNotFound


async def read_collection(ctx: Context, tx: Tx, collection_id: UUID) -> Collection:
    """Read a collection as the caller may: counting members of the kinds that are open to him.

    Raises:
        CollectionNotFound: absent, in the trash, or out of the caller's reach.
    """
    row = await queries.get_collection(tx, readable_kinds(ctx), collection_id, ctx.principal.user_id)
    if row is None:
        raise CollectionNotFound
    return Collection.model_validate(dict(row), by_name=True)


async def list_members(ctx: Context, tx: Tx, collection_id: UUID, limit: int) -> list[asyncpg.Record]:
    """List the newest members of a collection that the caller may read: `item_type`, `item_id`, `title`, `trust`."""
    return await queries.list_items(tx, readable_kinds(ctx), collection_id, None, limit, ctx.principal.user_id)
