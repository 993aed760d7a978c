"""What signed-in people can do with public links; an agent cannot publish."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.features.links import queries
from app.features.links.errors import AlreadyShared, LinkNotFound, SharedItemNotFound
from app.features.links.schemas import CreateLink, Link, ListLinks, RevokeLink
from app.features.links.service import LinkAddresses
from app.features.prompts import service as prompts
from app.gate.index import index_job
from app.gate.operation import Context, command, effect, query
from app.gate.passwords import Passwords
from app.gate.policy import Rate, Scope
from app.gate.principal import CredentialKind
from app.kit import cursor
from app.kit.errors import InsufficientScope, InvalidRequest
from app.kit.ids import new_id
from app.kit.paging import clamped, paged
from app.kit.schema import One, Page

if TYPE_CHECKING:
    from uuid import UUID

    import asyncpg

PERSON = frozenset({CredentialKind.SESSION})
_READS = (Scope.DOCUMENTS_READ, Scope.PROMPTS_READ)
_WRITES = (Scope.DOCUMENTS_WRITE, Scope.PROMPTS_WRITE)


@query(
    "links.list",
    scope=_READS,
    rate=Rate.READONLY,
    plan_exempt=True,
    credentials=PERSON,
    raises=(SharedItemNotFound,),
)
async def list_links(ctx: Context, args: ListLinks) -> Page[Link]:
    """List the live public links of the current workspace, newest first; `itemId` asks for the one of an item."""
    limit, notice = clamped(args.limit)
    after = cursor.decode(args.cursor) if args.cursor else None
    async with ctx.snapshot() as tx:
        if args.item_id is not None and not await queries.item_exists(tx, args.item_id):
            raise SharedItemNotFound
        rows = await queries.list_links(tx, after, limit + 1, item_id=args.item_id)
    return paged(rows, limit, notice, lambda row: _link(ctx, row))


async def _hash(ctx: Context, args: CreateLink) -> str | None:
    """Hash the password, which takes longer than a transaction may."""
    if args.password is None:
        return None
    return await ctx.get(Passwords).hash(args.password)


@effect(
    "links.create",
    prepare=_hash,
    scope=_WRITES,
    rate=Rate.API,
    credentials=PERSON,
    raises=(SharedItemNotFound, AlreadyShared, InvalidRequest, InsufficientScope),
)
async def create_link(ctx: Context, args: CreateLink, password_hash: str | None) -> One[Link]:
    """Show a document or a prompt to whoever has the address that this makes, as it is at each moment.

    With `expiresAt` it ends by itself; with `password` readers must know that too. There is one live link of an item;
    after its end, sharing again makes another address.
    """
    needed = Scope.DOCUMENTS_WRITE if args.item_type == "document" else Scope.PROMPTS_WRITE
    if needed not in ctx.principal.scopes:
        raise InsufficientScope((needed.value,))
    if not await queries.item_exists(ctx.tx, args.item_id, args.item_type):
        raise SharedItemNotFound
    link_id = new_id()
    token = ctx.get(LinkAddresses).token(link_id)
    created_at = await queries.insert_link(ctx, link_id, args, token.digest(), password_hash)
    if created_at is None:
        raise AlreadyShared
    if args.expires_at is not None and args.expires_at <= created_at:
        msg = "expiresAt must lie in the future."
        raise InvalidRequest(msg, details=[{"field": "expiresAt", "message": msg}])
    await _tell(ctx, args.item_type, args.item_id, published=True)
    (row,) = await queries.list_links(ctx.tx, None, 1, link_id=link_id)
    return One(data=_link(ctx, row))


@command("links.revoke", scope=_WRITES, rate=Rate.API, plan_exempt=True, credentials=PERSON, raises=(LinkNotFound,))
async def revoke_link(ctx: Context, args: RevokeLink) -> None:
    """End a link: its page and its Markdown answer 404 from then on, as an address that never was."""
    row = await queries.end_link(ctx.tx, args.link_id)
    if row is None or row["expired"]:
        raise LinkNotFound
    await _tell(ctx, row["item_type"], row["item_id"], published=False)


async def _tell(ctx: Context, item_type: str, item_id: UUID, *, published: bool) -> None:
    """Record the change; a prompt shows it as `isPublic`, so that its revision moves."""
    revision = None
    if item_type == "prompt":
        revision = await prompts.set_published(ctx.tx, item_id, published=published)
        ctx.enqueue(index_job(ctx.workspace_id))
    ctx.emit(f"{item_type}.{'published' if published else 'unpublished'}", item_id, revision)


def _link(ctx: Context, row: asyncpg.Record) -> Link:
    found: dict[str, Any] = {name: value for name, value in row.items() if name != "token_hash"}
    url = ctx.get(LinkAddresses).of(row["id"], row["token_hash"])
    return Link.model_validate(found | {"url": url}, by_name=True)
