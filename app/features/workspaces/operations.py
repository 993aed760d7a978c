"""What people can do with their workspaces: a browser session, or a token with all that the person may do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.features.accounts import service as accounts
from app.features.mail import service as mail
from app.features.workspaces import queries
from app.features.workspaces.errors import (
    AlreadyMember,
    InviteNotFound,
    LastOwner,
    MemberNotFound,
    OwnerRequired,
    WorkspaceNotFound,
)
from app.features.workspaces.schemas import (
    Accepted,
    AcceptInvite,
    CancelInvite,
    ChangeMember,
    CreatedInvite,
    CreateInvite,
    CreateWorkspace,
    Invite,
    ListInvites,
    ListMembers,
    ListWorkspaces,
    Member,
    RemoveMember,
    RenameWorkspace,
    Switched,
    SwitchWorkspace,
    Workspace,
)
from app.features.workspaces.service import Inviting
from app.gate.operation import Context, command, query
from app.gate.policy import Rate, Role
from app.gate.ports import Revocations
from app.gate.principal import CredentialKind
from app.gate.site import Site
from app.kit import cursor
from app.kit.errors import RateLimited
from app.kit.ids import new_id
from app.kit.paging import clamped, paged
from app.kit.sanitize import one_line
from app.kit.schema import One, Page
from app.kit.secrets import Token

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    import asyncpg

    from app.store.tx import Tx

BROWSER = frozenset({CredentialKind.SESSION})
PERSON = frozenset({CredentialKind.SESSION, CredentialKind.OAUTH})


@query("workspaces.list", scope=None, rate=Rate.READONLY, plan_exempt=True, credentials=PERSON)
async def list_workspaces(ctx: Context, args: ListWorkspaces) -> Page[Workspace]:
    """List the workspaces that the caller is a member of, the newest first; a token sees its own alone."""
    limit, notice = clamped(args.limit)
    rows = await queries.list_workspaces(ctx.database, ctx.principal.user_id, _only(ctx), _after(args), limit + 1)

    def shown(row: asyncpg.Record) -> Workspace:
        current = row["id"] == ctx.workspace_id
        return Workspace(
            id=row["id"],
            name=row["name"],
            kind=row["kind"],
            role=row["role"],
            current=current,
            owner=row["owner"],
            created_at=row["created_at"],
        )

    return paged(rows, limit, notice, shown)


@command("workspaces.create", scope=None, rate=Rate.API, credentials=PERSON)
async def create_workspace(ctx: Context, args: CreateWorkspace) -> One[Workspace]:
    """Create a shared workspace, whose first owner is the caller."""
    workspace_id = new_id()
    row = await queries.insert_workspace(ctx.tx, workspace_id, args.name, ctx.principal.user_id)
    await accounts.record(ctx, "workspace.created", workspace_id)
    made = Workspace(
        id=workspace_id, name=args.name, kind="shared", role="owner", current=False, created_at=row["created_at"]
    )
    return One(data=made)


@command(
    "workspaces.rename",
    scope=None,
    rate=Rate.API,
    credentials=PERSON,
    raises=(WorkspaceNotFound, OwnerRequired),
)
async def rename_workspace(ctx: Context, args: RenameWorkspace) -> One[Workspace]:
    """Rename a workspace."""
    _reach(ctx, args.workspace_id)
    row = await queries.rename_workspace(ctx.tx, args.workspace_id, args.name, ctx.principal.user_id)
    if row is None:
        await _refuse(ctx, args.workspace_id)
        raise OwnerRequired  # it was one a moment later
    await accounts.record(ctx, "workspace.renamed", args.workspace_id)
    current = args.workspace_id == ctx.workspace_id
    return One(data=Workspace.model_validate({**dict(row), "role": "owner", "current": current}, by_name=True))


@command(
    "workspaces.switch",
    scope=None,
    rate=Rate.API,
    plan_exempt=True,
    credentials=BROWSER,
    raises=(WorkspaceNotFound,),
)
async def switch_workspace(ctx: Context, args: SwitchWorkspace) -> One[Switched]:
    """Work in another workspace from now on, in this browser."""
    principal = ctx.principal
    if not await queries.switch(ctx.tx, args.workspace_id, principal.grant_id, principal.user_id):
        raise WorkspaceNotFound
    revocations = ctx.get(Revocations)
    ctx.committed.append(lambda: revocations.of_grant(principal.grant_id))
    return One(data=Switched(id=args.workspace_id))


@query(
    "members.list", scope=None, rate=Rate.READONLY, plan_exempt=True, credentials=PERSON, raises=(WorkspaceNotFound,)
)
async def list_members(ctx: Context, args: ListMembers) -> Page[Member]:
    """List the members of a workspace, who joined last first."""
    _reach(ctx, args.workspace_id)
    limit, notice = clamped(args.limit)
    async with ctx.snapshot() as tx:
        if await queries.role_of(tx, args.workspace_id, ctx.principal.user_id) is None:
            raise WorkspaceNotFound
        rows = await queries.list_members(tx, args.workspace_id, ctx.principal.user_id, _after(args), limit + 1)
    return paged(rows, limit, notice, _member)


@command(
    "members.change",
    scope=None,
    rate=Rate.API,
    plan_exempt=True,
    credentials=PERSON,
    raises=(WorkspaceNotFound, MemberNotFound, OwnerRequired, LastOwner),
)
async def change_member(ctx: Context, args: ChangeMember) -> None:
    """Give a member another role; the last owner stays one."""
    _reach(ctx, args.workspace_id)
    changed = await queries.change_member(ctx.tx, args.workspace_id, args.user_id, ctx.principal.user_id, args.role)
    if not changed:
        await _refuse(ctx, args.workspace_id, args.user_id)
        raise LastOwner
    await accounts.record(ctx, f"member.{args.role}", args.workspace_id, str(args.user_id))
    _forget(ctx, args.workspace_id, args.user_id)


@command(
    "members.remove",
    scope=None,
    rate=Rate.API,
    plan_exempt=True,
    credentials=PERSON,
    raises=(WorkspaceNotFound, MemberNotFound, OwnerRequired, LastOwner),
)
async def remove_member(ctx: Context, args: RemoveMember) -> None:
    """Remove a member, or leave; the member's keys and connected programs of the workspace end with it."""
    _reach(ctx, args.workspace_id)
    personal_id = await queries.personal_workspace(ctx.database, args.user_id)
    removed = await queries.remove_member(ctx.tx, args.workspace_id, args.user_id, ctx.principal.user_id, personal_id)
    if not removed:
        await _refuse(ctx, args.workspace_id, args.user_id)
        raise LastOwner
    await accounts.record(ctx, "member.removed", args.workspace_id, str(args.user_id))
    _forget(ctx, args.workspace_id, args.user_id)


@query(
    "invites.list",
    scope=None,
    rate=Rate.READONLY,
    plan_exempt=True,
    credentials=PERSON,
    raises=(WorkspaceNotFound, OwnerRequired),
)
async def list_invites(ctx: Context, args: ListInvites) -> Page[Invite]:
    """List the open invites of a workspace, without their links."""
    _reach(ctx, args.workspace_id)
    limit, notice = clamped(args.limit)
    async with ctx.snapshot() as tx:
        await _check_owner(tx, args.workspace_id, ctx.principal.user_id)
        rows = await queries.list_invites(tx, args.workspace_id, _after(args), limit + 1)
    return paged(rows, limit, notice, lambda row: Invite.model_validate(dict(row), by_name=True))


@command(
    "invites.create",
    scope=None,
    rate=Rate.API,
    credentials=PERSON,
    raises=(WorkspaceNotFound, OwnerRequired, AlreadyMember),
)
async def create_invite(ctx: Context, args: CreateInvite) -> One[CreatedInvite]:
    """Invite somebody by address.

    The link is sent by mail. It stands in this answer too, unless it could make an account: where people make their own
    and mails are sent, only who reads the mail may have it. `notice` says what else is needed. Who is a member already
    is refused (409).
    """
    _reach(ctx, args.workspace_id)
    token, site = Token.new(), ctx.get(Site)
    row = await queries.insert_invite(
        ctx.tx,
        args.workspace_id,
        ctx.principal.user_id,
        token.digest(),
        new_id(),
        email=args.email,
        role=args.role,
        days=args.days,
    )
    if row is None:
        await _refuse(ctx, args.workspace_id)
        if member := await queries.member_by_email(ctx.tx, args.workspace_id, args.email):
            raise AlreadyMember(member["user_id"], member["role"])
        msg = f"A workspace can send {queries.INVITES_A_DAY} invites a day; go on tomorrow."
        raise RateLimited(msg, limit=queries.INVITES_A_DAY, retry_after=3600)
    link = f"{site.url}/invite/{token.text}"
    await mail.write(
        ctx.tx,
        args.email,
        f"{site.name}: an invitation",
        f"{one_line(ctx.principal.user_name)} invites you to a workspace. Accept within {args.days} days:\n\n{link}\n",
    )
    await accounts.record(ctx, "invite.created", args.workspace_id, args.email)
    told = {"link": None if site.mailed_links else link, "notice": ctx.get(Inviting).notice}
    return One(data=CreatedInvite.model_validate({**dict(row), **told}, by_name=True))


@command(
    "invites.cancel",
    scope=None,
    rate=Rate.API,
    plan_exempt=True,
    credentials=PERSON,
    raises=(WorkspaceNotFound, OwnerRequired, InviteNotFound),
)
async def cancel_invite(ctx: Context, args: CancelInvite) -> None:
    """Take an open invite back."""
    _reach(ctx, args.workspace_id)
    if not await queries.cancel_invite(ctx.tx, args.workspace_id, args.invite_id, ctx.principal.user_id):
        await _refuse(ctx, args.workspace_id)
        raise InviteNotFound
    await accounts.record(ctx, "invite.cancelled", args.workspace_id, str(args.invite_id))


@command("invites.accept", scope=None, rate=Rate.API, plan_exempt=True, credentials=BROWSER, raises=(InviteNotFound,))
async def accept_invite(ctx: Context, args: AcceptInvite) -> One[Accepted]:
    """Join a workspace by an invite for the caller's address, and work in it from now on, in this browser."""
    principal = ctx.principal
    row = await queries.accept_invite(ctx.tx, Token(args.token).digest(), principal.user_id)
    if row is None:
        raise InviteNotFound
    await accounts.record(ctx, "invite.accepted", row["workspace_id"])
    await queries.switch(ctx.tx, row["workspace_id"], principal.grant_id, principal.user_id)
    revocations = ctx.get(Revocations)
    ctx.committed.append(lambda: revocations.of_grant(principal.grant_id))
    return One(data=Accepted(workspace_id=row["workspace_id"], role=row["role"]))


def _after(args: ListWorkspaces | ListMembers | ListInvites) -> tuple[datetime, UUID] | None:
    return cursor.decode(args.cursor) if args.cursor else None


def _member(row: asyncpg.Record) -> Member:
    return Member(
        user_id=row["id"], name=row["name"], email=row["email"], role=row["role"], joined_at=row["created_at"]
    )


def _only(ctx: Context) -> UUID | None:
    """Give the one workspace that a token was consented for; None for a person in a browser, who has them all."""
    return ctx.workspace_id if ctx.principal.kind is CredentialKind.OAUTH else None


def _reach(ctx: Context, workspace_id: UUID) -> None:
    """Keep a token in its workspace.

    Raises:
        WorkspaceNotFound: the person may be a member, but consented to another workspace.
    """
    if _only(ctx) not in (None, workspace_id):
        raise WorkspaceNotFound


async def _check_owner(tx: Tx, workspace_id: UUID, actor_id: UUID) -> None:
    role = await queries.role_of(tx, workspace_id, actor_id)
    if role is None:
        raise WorkspaceNotFound
    if role != Role.OWNER:
        raise OwnerRequired


async def _refuse(ctx: Context, workspace_id: UUID, member_id: UUID | None = None) -> None:
    """Say why a write did not happen, as far as the caller may know; return when it was something else.

    Raises:
        WorkspaceNotFound, OwnerRequired, MemberNotFound.
    """
    await _check_owner(ctx.tx, workspace_id, ctx.principal.user_id)
    if member_id is not None and await queries.role_of(ctx.tx, workspace_id, member_id) is None:
        raise MemberNotFound


def _forget(ctx: Context, workspace_id: UUID, user_id: UUID) -> None:
    revocations = ctx.get(Revocations)
    ctx.committed.append(lambda: revocations.of_member(workspace_id, user_id))
