"""REST faces of workspaces, members and invites."""

from __future__ import annotations

from app.edge.rest.router import Rest
from app.features.workspaces import operations

_ONE = "/v1/workspaces/{workspaceId}"

ROUTES = [
    Rest("GET", "/v1/workspaces", operations.list_workspaces, core=False),
    Rest("POST", "/v1/workspaces", operations.create_workspace, status=201, core=False),
    Rest("PATCH", _ONE, operations.rename_workspace, core=False),
    Rest("POST", f"{_ONE}:switch", operations.switch_workspace, core=False),
    Rest("GET", f"{_ONE}/members", operations.list_members, core=False),
    Rest("PATCH", f"{_ONE}/members/{{userId}}", operations.change_member, status=204, core=False),
    Rest("DELETE", f"{_ONE}/members/{{userId}}", operations.remove_member, status=204, core=False),
    Rest("GET", f"{_ONE}/invites", operations.list_invites, core=False),
    Rest("POST", f"{_ONE}/invites", operations.create_invite, status=201, core=False),
    Rest("DELETE", f"{_ONE}/invites/{{inviteId}}", operations.cancel_invite, status=204, core=False),
]
