"""What a caller may know of itself (contract: operation 35)."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from app.kit.schema import Model, absent

_PART = r"[^@\s\x00-\x1f\x7f-\x9f,:;<>()\[\]\\\"\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
ADDRESS = f"{_PART}{{1,64}}@{_PART}{{1,255}}"
"""An e-mail address: one, and nothing that a mail's header would read as two, as a name or as a group."""


class GetMe(Model):
    """No arguments: the caller asks about itself."""


class Workspace(Model):
    """The workspace that the credential is bound to."""

    id: UUID
    name: str
    role: str


class PlanInfo(Model):
    """The active plan."""

    name: str
    trial: bool
    features: list[str]


class User(Model):
    """The caller, its rights, and its workspace's plan and usage."""

    id: UUID
    name: str
    email: str
    external_id: str | None
    auth_method: str
    permissions: Annotated[list[str], Field(description="The scopes of this credential, implied ones included.")]
    collection_ids: Annotated[
        list[UUID] | None,
        Field(default=None, exclude_if=absent, description="Collections that this credential is restricted to."),
    ]
    workspace: Workspace
    plan: Annotated[PlanInfo | None, Field(description="null without an active plan.")]
    usage: Annotated[
        dict[str, Any], Field(description="Used amounts of each meter, with the limit where there is one.")
    ]
