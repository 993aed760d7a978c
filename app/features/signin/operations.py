"""What signed-in people can do with their browser sessions."""

from __future__ import annotations

from app.features.accounts import service as accounts
from app.features.signin import queries
from app.features.signin.errors import SessionNotFound
from app.features.signin.schemas import EndSignIn, ListSignIns, SignIn
from app.gate.operation import Context, command, query
from app.gate.policy import Rate
from app.gate.ports import Revocations
from app.gate.principal import CredentialKind
from app.kit.schema import Page, Pagination

PERSON = frozenset({CredentialKind.SESSION})


@query("signin.list", scope=None, rate=Rate.READONLY, plan_exempt=True, credentials=PERSON)
async def list_sign_ins(ctx: Context, args: ListSignIns) -> Page[SignIn]:  # noqa: ARG001  it has none
    """List the browsers where the caller is signed in, the latest used first."""
    async with ctx.snapshot() as tx:
        rows = await queries.list_sessions(tx, ctx.principal.user_id)
    items = [
        SignIn.model_validate({**dict(row), "current": row["id"] == ctx.principal.grant_id}, by_name=True)
        for row in rows
    ]
    return Page(data=items, pagination=Pagination(cursor=None, has_more=False))


@command("signin.end", scope=None, rate=Rate.API, plan_exempt=True, credentials=PERSON, raises=(SessionNotFound,))
async def end_sign_in(ctx: Context, args: EndSignIn) -> None:
    """Sign the caller out in one browser."""
    if not await queries.revoke_session(ctx.tx, args.sign_in_id, ctx.principal.user_id):
        raise SessionNotFound
    await accounts.record(ctx, "sign_in.ended", None, str(args.sign_in_id))
    revocations = ctx.get(Revocations)
    ctx.committed.append(lambda: revocations.of_grant(args.sign_in_id))
