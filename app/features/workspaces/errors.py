"""What can be wrong with a request about workspaces, members and invites."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.kit.errors import AppError, Kind, NotFound

if TYPE_CHECKING:
    from uuid import UUID


class WorkspaceNotFound(NotFound):
    """Absent, or the caller is no member: the two answer alike."""

    def __init__(self) -> None:
        super().__init__("Workspace not found. List your workspaces to find its id.")


class MemberNotFound(NotFound):
    """The workspace has no such member."""

    def __init__(self) -> None:
        super().__init__("Member not found. List the workspace's members to find the user's id.")


class InviteNotFound(NotFound):
    """The invite was used, taken back, has expired, or is for another address; all answer alike."""

    def __init__(self) -> None:
        super().__init__(
            "This invite does not work (any more): it is for one use, one address and a limited time. Ask for another."
        )


class OwnerRequired(AppError):
    """Only owners of the workspace may do this."""

    kind = Kind.FORBIDDEN
    reason = "INSUFFICIENT_SCOPE"

    def __init__(self) -> None:
        super().__init__("Only an owner of the workspace may do this; ask one of them.")


class LastOwner(AppError):
    """The workspace would be left without an owner, or a personal one without its person."""

    kind = Kind.CONFLICT
    reason = "LAST_OWNER"

    def __init__(self) -> None:
        super().__init__(
            "This would leave the workspace without an owner (a personal workspace keeps its person). "
            "Make another member an owner first."
        )


class AlreadyMember(AppError):
    """Who is invited is a member; every owner can see that in the list of members."""

    kind = Kind.CONFLICT
    reason = "ALREADY_MEMBER"

    def __init__(self, user_id: UUID, role: str) -> None:
        super().__init__(
            f"Who has this address is a member of the workspace already, as {role}. "
            "For another role, change the member's role in the list of members.",
            details={"userId": str(user_id), "role": role},
        )
