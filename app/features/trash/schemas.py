"""Arguments and results of the trash."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import Field

from app.kit.guarded import Lease
from app.kit.ids import Id
from app.kit.paging import After, PageSize
from app.kit.schema import Model


class TrashKind(StrEnum):
    """What can be in the trash."""

    DOCUMENT = "document"
    PROMPT = "prompt"
    COLLECTION = "collection"


class ListTrash(Model):
    """What of the trash to list, the last deleted first."""

    kind: Annotated[TrashKind | None, Field(default=None, description="Only items of this kind.")]
    limit: PageSize
    cursor: After


class TrashedItemId(Model):
    """Which item of the trash."""

    item_id: Annotated[Id, Field(description="The id of the deleted item.")]


class RestoreItem(TrashedItemId, Lease):
    """Which item to take out of the trash; a managed document under its lease, while that is live."""


class PurgeItem(TrashedItemId, Lease):
    """Which item of the trash to remove for good; a managed document under its lease, while that is live."""


class TrashedItem(Model):
    """A deleted item."""

    id: UUID
    kind: TrashKind
    title: str
    deleted_at: datetime
    expires_at: Annotated[datetime, Field(description="When it is purged by itself.")]


class RestoredItem(Model):
    """An item that is back."""

    id: UUID
    kind: TrashKind
    revision: int


class PurgedItem(Model):
    """An item that is gone for good."""

    id: UUID
    kind: TrashKind
    purged: Annotated[
        dict[str, int],
        Field(
            description="How many rows of what were removed now (the search index forgets its part before, while the "
            "item lies in the trash); a narrow key sees those of the item alone."
        ),
    ]
