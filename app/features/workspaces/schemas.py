"""Arguments and results of the operations on workspaces, members and invites."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from app.features.accounts.schemas import ADDRESS
from app.gate.policy import Role
from app.kit.ids import Id
from app.kit.paging import After, PageSize
from app.kit.schema import Model, PlainName, absent

WorkspaceId = Annotated[Id, Field(description="The workspace's id.")]
UserId = Annotated[Id, Field(description="The member's user id.")]
Email = Annotated[
    str,
    StringConstraints(strip_whitespace=True, max_length=320, pattern=f"^{ADDRESS}$"),
]
DEFAULT_DAYS = 7


class ListWorkspaces(Model):
    """How many of the caller's own, and after which."""

    limit: PageSize
    cursor: After


class Workspace(Model):
    """A workspace that the caller is a member of."""

    id: UUID
    name: str
    kind: Annotated[str, Field(description="`personal` or `shared`.")]
    role: Annotated[str, Field(description="The caller's role: `owner`, `member` or `viewer`.")]
    current: Annotated[bool, Field(description="Whether the credential works in it.")]
    owner: Annotated[
        str | None,
        Field(default=None, exclude_if=absent, description="Whose it is, if it is somebody else's personal one."),
    ]
    created_at: datetime


class CreateWorkspace(Model):
    """A new shared workspace."""

    name: Annotated[PlainName, Field(description="A name that its members will recognise.")]


class RenameWorkspace(Model):
    """Which workspace, and its new name."""

    workspace_id: WorkspaceId
    name: Annotated[PlainName, Field(description="The new name.")]


class SwitchWorkspace(Model):
    """Which workspace the browser works in from now on."""

    workspace_id: WorkspaceId


class Switched(Model):
    """The workspace that is current now."""

    id: UUID


class ListMembers(Model):
    """Whose members."""

    workspace_id: WorkspaceId
    limit: PageSize
    cursor: After


class Member(Model):
    """A user in a workspace."""

    user_id: UUID
    name: str
    email: str
    role: str
    joined_at: datetime


class ChangeMember(Model):
    """Which member gets which role."""

    workspace_id: WorkspaceId
    user_id: UserId
    role: Role


class RemoveMember(Model):
    """Which member leaves."""

    workspace_id: WorkspaceId
    user_id: UserId


class ListInvites(Model):
    """Whose invites."""

    workspace_id: WorkspaceId
    limit: PageSize
    cursor: After


class CreateInvite(Model):
    """Who is invited, as what."""

    workspace_id: WorkspaceId
    email: Annotated[Email, Field(description="The address that may accept.")]
    role: Annotated[Role, Field(default=Role.MEMBER, description="The role that it gives.")]
    days: Annotated[int, Field(default=DEFAULT_DAYS, ge=1, le=30, description="For how many days it is open.")]


class Invite(Model):
    """An open invite."""

    id: UUID
    email: str
    role: str
    created_at: datetime
    expires_at: datetime


class CreatedInvite(Invite):
    """A fresh invite with its link, which is shown this once; null where it goes by mail alone."""

    link: str | None
    notice: Annotated[str, Field(description="How the link reaches the invited, and what they need to accept.")]


class CancelInvite(Model):
    """Which invite to take back."""

    workspace_id: WorkspaceId
    invite_id: Annotated[Id, Field(description="The invite's id.")]


class AcceptInvite(Model):
    """The secret of an invite's link."""

    token: Annotated[str, Field(min_length=1, max_length=200)]


class Accepted(Model):
    """The workspace that the caller is a member of now."""

    workspace_id: UUID
    role: str
