"""What signed-in people can do with their API keys of the current workspace; a key cannot make keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.features.accounts import service as accounts
from app.features.collections.errors import CollectionNotFound
from app.features.keys import queries
from app.features.keys.errors import KeyEnded, KeyNotFound
from app.features.keys.schemas import CreatedKey, CreateKey, Key, ListKeys, RevokeKey, RotateKey
from app.gate.operation import Context, command, query
from app.gate.policy import Meter, Rate
from app.gate.ports import Revocations
from app.gate.principal import CredentialKind
from app.kit import cursor
from app.kit.errors import InsufficientScope, InvalidRequest
from app.kit.ids import new_id
from app.kit.paging import clamped, paged
from app.kit.schema import One, Page
from app.kit.secrets import new_api_key

if TYPE_CHECKING:
    from uuid import UUID

PERSON = frozenset({CredentialKind.SESSION})


@query("keys.list", scope=None, rate=Rate.READONLY, plan_exempt=True, credentials=PERSON)
async def list_keys(ctx: Context, args: ListKeys) -> Page[Key]:
    """List the caller's API keys of the current workspace, newest first, without their secrets."""
    limit, notice = clamped(args.limit)
    after = cursor.decode(args.cursor) if args.cursor else None
    async with ctx.snapshot() as tx:
        rows = await queries.list_keys(tx, ctx.principal.user_id, after, limit + 1)
    return paged(rows, limit, notice, lambda row: Key.model_validate(dict(row), by_name=True))


@command(
    "keys.create",
    scope=None,
    rate=Rate.API,
    spends=(Meter.API_KEYS,),
    credentials=PERSON,
    raises=(InsufficientScope, InvalidRequest, CollectionNotFound),
)
async def create_key(ctx: Context, args: CreateKey) -> One[CreatedKey]:
    """Create an API key for the current workspace; its text is in this answer and nowhere else.

    A key can have no scope that the caller's role in the workspace lacks. With `collectionIds` it sees and changes only
    members of these collections: everything else answers as if it did not exist.
    """
    beyond = [scope.value for scope in args.scopes if scope not in ctx.principal.role.scopes]
    if beyond:
        raise InsufficientScope(tuple(beyond))
    key = new_api_key()
    row = await queries.create_key(ctx.tx, ctx.principal.user_id, key, new_id(), new_id(), args)
    if row is None:
        raise CollectionNotFound
    if args.expires_at is not None and args.expires_at <= row["created_at"]:
        msg = "expiresAt must lie in the future."
        raise InvalidRequest(msg, details=[{"field": "expiresAt", "message": msg}])
    await accounts.record(ctx, "key.created", ctx.workspace_id, row["public_id"])
    return One(data=CreatedKey.model_validate({**dict(row), "key": key.text}, by_name=True))


@command("keys.rotate", scope=None, rate=Rate.API, credentials=PERSON, raises=(KeyNotFound, KeyEnded))
async def rotate_key(ctx: Context, args: RotateKey) -> One[CreatedKey]:
    """Give a key a new secret at once; the old one works for the overlap that is asked for, at most a day.

    Both are the same grant: what the key's programs did with an `Idempotency-Key` is remembered.
    """
    if not await queries.lock_key(ctx.tx, ctx.principal.user_id, args.key_id):
        raise KeyNotFound
    key = new_api_key()
    row = await queries.rotate_key(ctx.tx, ctx.principal.user_id, args.key_id, args.overlap_seconds, key, new_id())
    if row is None:
        raise KeyEnded
    await accounts.record(ctx, "key.rotated", ctx.workspace_id, row["public_id"])
    return One(data=CreatedKey.model_validate({**dict(row), "key": key.text}, by_name=True))


@command("keys.revoke", scope=None, rate=Rate.API, plan_exempt=True, credentials=PERSON, raises=(KeyNotFound,))
async def revoke_key(ctx: Context, args: RevokeKey) -> None:
    """End a key within five seconds, with the earlier secrets that still overlap; an earlier one ends alone."""
    grant_id = await queries.revoke_key(ctx.tx, ctx.principal.user_id, args.key_id)
    if grant_id is None:
        raise KeyNotFound
    await accounts.record(ctx, "key.revoked", ctx.workspace_id, str(args.key_id))
    _forget(ctx, grant_id)


def _forget(ctx: Context, grant_id: UUID) -> None:
    revocations = ctx.get(Revocations)
    ctx.committed.append(lambda: revocations.of_grant(grant_id))
