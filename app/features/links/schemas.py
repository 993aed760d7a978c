"""Arguments and results of the operations on public links."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from app.kit.ids import Id
from app.kit.paging import After, PageSize
from app.kit.schema import Instant, Model

MIN_PASSWORD = 8
MAX_PASSWORD = 200
ItemType = Annotated[Literal["document", "prompt"], Field(description="What is shared.")]


class ListLinks(Model):
    """How many of the workspace's live links, after which, and of which item."""

    limit: PageSize
    cursor: After
    item_id: Annotated[Id | None, Field(default=None, description="Only the link of this document or prompt.")]


class CreateLink(Model):
    """What to share, until when, and whether a password is wanted."""

    item_type: ItemType
    item_id: Annotated[Id, Field(description="Its id.")]
    expires_at: Annotated[Instant | None, Field(default=None, description="When it ends by itself; else never.")]
    password: Annotated[
        Annotated[str, StringConstraints(min_length=MIN_PASSWORD, max_length=MAX_PASSWORD)] | None,
        Field(default=None, description="What readers must know; it cannot be read again."),
    ]


class RevokeLink(Model):
    """Which link to end."""

    link_id: Annotated[Id, Field(description="The link's id.")]


class Link(Model):
    """A live link."""

    id: UUID
    item_type: ItemType
    item_id: UUID
    title: Annotated[str, Field(description="The item's title now.")]
    url: Annotated[str | None, Field(description="Its address; null after the service's secret was replaced.")]
    has_password: bool
    created_at: datetime
    created_by: Annotated[str, Field(description="Who shared it.")]
    expires_at: datetime | None
    views: Annotated[int, Field(description="How often the page was opened; known to about ten seconds.")]
    copies: Annotated[int, Field(description="How often its Markdown was taken.")]
    last_viewed_at: datetime | None
