"""Pages of workspaces: the landing page, the switcher, members and invites."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.edge.web.page import HOME, Page, call, every, form, gate_of, panels, redirect, render, visitor
from app.features.accounts.operations import get_me
from app.features.signin.service import SignIn
from app.features.workspaces import operations, service
from app.features.workspaces.errors import AlreadyMember
from app.gate.policy import Role
from app.kit.errors import AppError, InvalidRequest

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from app.features.workspaces.schemas import Workspace

ROLES = [
    ("member", "Member: reads and changes"),
    ("viewer", "Viewer: reads"),
    ("owner", "Owner: also members and plan"),
]
_WORKSPACES, _MEMBERS = "/dashboard/workspaces", "/dashboard/members"


async def dashboard(request: Request) -> Response:
    """Greet a person, with links to everything."""
    me = (await call(request, get_me)).data
    found = await _workspaces(request)
    more = await panels(request, "overview", me) if me.plan else []
    return render(request, "dashboard.html", me=me, workspaces=found, panels=more)


async def _workspaces(request: Request) -> list[Workspace]:
    """Give the person's workspaces, the oldest first, so that each keeps its place."""
    return (await every(request, operations.list_workspaces))[::-1]


async def workspaces(request: Request) -> Response:
    """List the person's workspaces, with a form for a new one."""
    return await _show_workspaces(request)


async def _show_workspaces(request: Request, status: int = 200, error: str = "") -> Response:
    found = await _workspaces(request)
    return render(request, "workspaces.html", status, workspaces=found, error=error)


async def create(request: Request) -> Response:
    """Make a workspace and work in it."""
    fields = await form(request)
    try:
        made = (await call(request, operations.create_workspace, name=fields.get("name", ""))).data
    except InvalidRequest:
        return await _show_workspaces(request, 400, "Give the workspace a name of at most 100 characters.")
    await call(request, operations.switch_workspace, workspaceId=str(made.id))
    return redirect(_MEMBERS)


async def switch(request: Request) -> Response:
    """Work in another workspace."""
    fields = await form(request)
    await call(request, operations.switch_workspace, workspaceId=fields.get("workspace", ""))
    return redirect(HOME)


async def rename(request: Request) -> Response:
    """Rename the current workspace."""
    fields = await form(request)
    who = await visitor(request)
    here = str(who.workspace_id) if who else ""
    try:
        await call(request, operations.rename_workspace, workspaceId=here, name=fields.get("name", ""))
    except InvalidRequest:
        return await _show_members(request, 400, error="Give the workspace a name of at most 100 characters.")
    return redirect(_MEMBERS)


async def members(request: Request) -> Response:
    """Show who is in the current workspace, and for owners its invites."""
    return await _show_members(request)


async def _show_members(request: Request, status: int = 200, **more: Any) -> Response:
    me = (await call(request, get_me)).data
    here = str(me.workspace.id)
    found = (await every(request, operations.list_members, workspaceId=here))[::-1]
    is_owner = me.workspace.role == Role.OWNER
    invites = await every(request, operations.list_invites, workspaceId=here) if is_owner else []
    shown: dict[str, Any] = {"me": me, "members": found, "invites": invites, "is_owner": is_owner, "roles": ROLES}
    return render(request, "members.html", status, **(shown | {"made": None, "error": "", "email": ""} | more))


async def change_member(request: Request) -> Response:
    """Change a member's role, or remove the member."""
    fields = await form(request)
    who = await visitor(request)
    here, member = str(who.workspace_id) if who else "", request.path_params["id"]
    try:
        if fields.get("action") == "remove":
            await call(request, operations.remove_member, workspaceId=here, userId=member)
        else:
            await call(request, operations.change_member, workspaceId=here, userId=member, role=fields.get("role", ""))
    except AppError as error:
        if who is None:
            raise
        return await _show_members(request, 400, error=error.message)
    return redirect(HOME if who and fields.get("action") == "remove" and member == str(who.user_id) else _MEMBERS)


async def invite(request: Request) -> Response:
    """Invite somebody and show the link, this once."""
    fields = await form(request)
    who = await visitor(request)
    here, email = str(who.workspace_id) if who else "", fields.get("email", "")
    role = fields.get("role", "")
    try:
        made = await call(request, operations.create_invite, workspaceId=here, email=email, role=role)
    except InvalidRequest:
        return await _show_members(request, 400, error="This is no e-mail address.", email=email)
    except AlreadyMember as error:
        return await _show_members(request, 409, error=error.message, email=email)
    return await _show_members(request, made=made.data)


async def cancel_invite(request: Request) -> Response:
    """Take an invite back."""
    await form(request)
    who = await visitor(request)
    here = str(who.workspace_id) if who else ""
    await call(request, operations.cancel_invite, workspaceId=here, inviteId=request.path_params["id"])
    return redirect(_MEMBERS)


async def accept(request: Request) -> Response:
    """Accept an invite: as who one is, after signing in, or with a new account."""
    token = request.path_params["token"]
    gate = gate_of(request)
    who = await visitor(request)
    found = await service.peek_invite(gate.database, token)
    if who is not None:
        me = (await call(request, get_me)).data
        fits = me.email.lower() == str(found["email"]).lower()
        if request.method == "POST" and fits:
            await form(request)
            await call(request, operations.accept_invite, token=token)
            return redirect(HOME)
        return render(request, "invite.html", invite=found, me=me, fits=fits)
    if found["has_account"] or gate.get(SignIn).signup == "closed":
        return render(request, "invite.html", invite=found, me=None, fits=False)
    return redirect(f"/sign-up/{token}")


PAGES = [
    Page(HOME, dashboard),
    Page(_WORKSPACES, workspaces),
    Page(_WORKSPACES, create, ("POST",)),
    Page(f"{_WORKSPACES}/switch", switch, ("POST",)),
    Page(f"{_WORKSPACES}/rename", rename, ("POST",)),
    Page(_MEMBERS, members),
    Page(f"{_MEMBERS}/{{id}}", change_member, ("POST",)),
    Page("/dashboard/invites", invite, ("POST",)),
    Page("/dashboard/invites/{id}/cancel", cancel_invite, ("POST",)),
    Page("/invite/{token}", accept, ("GET", "POST"), why="nobody may be known before it", rate="sign-in"),
]
