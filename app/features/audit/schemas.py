"""Arguments and results of the audit trail."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from app.kit.paging import After, PageSize
from app.kit.schema import Model


class ListAudit(Model):
    """Which lines of the trail, the newest first."""

    object: Annotated[
        str | None, Field(default=None, max_length=500, description="Only changes of this item: an `object` of a line.")
    ]
    user: Annotated[str | None, Field(default=None, max_length=36, description="Only what the user of this id did.")]
    limit: PageSize
    cursor: After


class AuditEntry(Model):
    """A change: who, by which grant and client, what, and when."""

    id: UUID
    created_at: datetime
    user_id: UUID | None
    user_name: Annotated[str | None, Field(description="null where the user is not known any more.")]
    grant_id: Annotated[
        UUID | None,
        Field(description="null where no grant did it, as at sign-up, and in old lines of keys and members."),
    ]
    credential: Annotated[str | None, Field(description="`api_key`, `oauth` or `session`; null where it is unknown.")]
    client: Annotated[str | None, Field(description="The key's name, the connected program's, or the browser's.")]
    agent: Annotated[str | None, Field(description="What the caller said it is (`X-Agent-Id`).")]
    topic: Annotated[str, Field(description="What happened, such as `document.changed`.")]
    operation: Annotated[str | None, Field(description="The operation that did it; null where none did.")]
    object: Annotated[str | None, Field(description="What was changed: an id, or a name such as a key's.")]
    title: Annotated[str | None, Field(description="The item's title now, while it is there.")]
    revision: int | None
    request_id: str | None
