"""Arguments and results of collections (contract: operations 21 to 28)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import BeforeValidator, Field, StringConstraints, field_validator

from app.kit import revision as revisions
from app.kit.guarded import Guarded
from app.kit.ids import NO_ID, Id, parse_id
from app.kit.paging import After, PageSize, Sorted
from app.kit.schema import (
    EpochMs,
    Model,
    NotBlank,
    Page,
    Pagination,
    RestOnly,
    TagFilter,
    Tags,
    absent,
    as_list,
    not_null,
)
from app.kit.trust import Shown

DEFAULT_ICON = "\N{FILE FOLDER}"
MAX_NAME = 200
MAX_DESCRIPTION = 2_000
MAX_ITEMS = 500
MAX_ID = 200
TOOL_ITEMS = 50
"""Items that come with a collection over MCP (contract: 1.3, tool 17)."""

CollectionId = Annotated[Id, Field(description="The collection's id.")]
Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME, pattern=r"\S"), NotBlank]
Description = Annotated[str, StringConstraints(max_length=MAX_DESCRIPTION)]
Color = Annotated[str, StringConstraints(pattern=r"^(#([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6}))?$")]
Icon = Annotated[str, StringConstraints(max_length=32, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")]
_COLOR = "A hex colour such as #3366ff; an empty text for none."
_ICON = "An emoji; an empty text for the folder."


class ItemType(StrEnum):
    """What can be a member of a collection."""

    DOCUMENT = "document"
    PROMPT = "prompt"


class ListCollections(Sorted):
    """Which collections to list."""

    search: Annotated[
        str | None, Field(default=None, max_length=500, description="Only those whose name or description holds this.")
    ]
    limit: PageSize
    tags: Annotated[TagFilter, Field(default_factory=list)]
    cursor: After
    item_id: Annotated[
        Id | None, RestOnly(), Field(default=None, description="Only those that hold this document or prompt.")
    ]


class CreateCollection(Model):
    """A new collection."""

    name: Annotated[Name, Field(description="A name people will recognise.")]
    description: Annotated[Description, Field(default="", description="What belongs into it.")]
    color: Annotated[Color, Field(default="", description=_COLOR)]
    icon: Annotated[Icon, Field(default="", description=_ICON)]
    tags: Annotated[Tags, Field(default_factory=list, description="Labels to filter by.")]


class GetCollection(Model):
    """Which collection, by id."""

    collection_id: CollectionId


class OpenCollection(GetCollection):
    """Which collection, and whether its items come along."""

    include_items: Annotated[bool, Field(default=True, description=f"Also up to {TOOL_ITEMS} items.")]
    cursor: Annotated[str | None, Field(default=None, description="Goes on with the items of the call before.")]


class PatchCollection(Guarded):
    """Changes to a collection; what is left out stays."""

    collection_id: CollectionId
    name: Annotated[Name | None, Field(default=None, description="A new name.")]
    description: Annotated[Description | None, Field(default=None, description="A new description.")]
    color: Annotated[Color | None, Field(default=None, description=_COLOR)]
    icon: Annotated[Icon | None, Field(default=None, description=_ICON)]
    tags: Annotated[Tags | None, Field(default=None, description="The whole new list; [] removes all tags.")]

    _keep = field_validator("name", "description", "color", "icon", "tags", mode="before")(not_null)


class DeleteCollection(Guarded):
    """Which collection to move to the trash; its members stay."""

    collection_id: CollectionId


class ListItems(Model):
    """Whose items to list, the last added first."""

    collection_id: CollectionId
    limit: PageSize
    cursor: After


class ChangeItems(Guarded):
    """Which items to add to a collection, or to remove from it."""

    collection_id: CollectionId
    item_ids: Annotated[
        list[Annotated[str, Field(max_length=MAX_ID)]],
        BeforeValidator(as_list),
        Field(min_length=1, max_length=MAX_ITEMS, description="Ids of the items, all of one type."),
    ]
    item_type: Annotated[ItemType, Field(description="What the items are.")]

    @property
    def ids(self) -> list[UUID]:
        """The ids; what is none names nothing."""
        return [parse_id(text) or NO_ID for text in self.item_ids]


class Collection(Shown):
    """A collection; who changed it after its creator is not known, so that `trust` tells of the creator alone."""

    id: UUID
    name: str
    description: str
    color: str | None
    icon: str
    item_count: Annotated[int, Field(description="Members that the caller may read; deleted ones do not count.")]
    tags: list[str]
    revision: int
    content_hash: str
    created_at: EpochMs
    last_changed_at: EpochMs

    @property
    def etag(self) -> str:
        """The strong entity tag of this revision."""
        return revisions.etag(self.revision, self.content_hash)

    @property
    def final(self) -> bool:
        """Never: `itemCount` follows the members, not the revision."""
        return False


class ChangedCollection(Collection):
    """A collection after a change."""

    noop: Annotated[bool, Field(description="true: it already said this, so that no revision was made.")]


class CollectionItem(Shown):
    """A member of a collection."""

    item_id: UUID
    item_type: ItemType
    title: str
    added_at: EpochMs


class OpenedCollection(Model):
    """`{"data": …, "items": […]}`."""

    data: Collection
    items: Annotated[list[CollectionItem] | None, Field(default=None, exclude_if=absent)]
    pagination: Annotated[Pagination | None, Field(default=None, exclude_if=absent)]

    @property
    def page(self) -> Page[CollectionItem] | None:
        """The items as a page; None when they were not asked for."""
        if self.items is None or self.pagination is None:
            return None
        return Page(data=self.items, pagination=self.pagination)


class Added(Model):
    """How many items became members, and how many were before."""

    added: int
    already_in_collection: int


class Removed(Model):
    """How many items stopped being members."""

    removed: int
