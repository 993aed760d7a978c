"""Arguments and results of documents: the truth for REST, MCP, the command line and OpenAPI (contract: 2.1 to 2.3)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self
from uuid import UUID

from pydantic import Field, StringConstraints, field_validator, model_validator

from app.kit import revision as revisions
from app.kit.guarded import Guarded
from app.kit.ids import Id
from app.kit.paging import MAX_LIMIT, After, PageSize
from app.kit.schema import EpochMs, FromHeader, Model, Positive, TagFilter, Tags, absent, not_null
from app.kit.secrets import Token

MAX_TITLE = 500
MAX_CHANGE_LOG = 2_000

DocumentId = Annotated[Id, Field(description="The document's id.")]
Title = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TITLE, pattern=r"\S")]
ChangeLog = Annotated[
    str | None, Field(max_length=MAX_CHANGE_LOG, description="One line that says why, kept with the version.")
]


class Status(StrEnum):
    """How far search knows the current revision."""

    PENDING = "pending"
    PROCESSING = "processing"
    READY = "ready"
    FAILED = "failed"


FINAL = frozenset({Status.READY, Status.FAILED})


class CreateDocument(Model):
    """A new document of text or Markdown."""

    title: Annotated[Title, Field(description="A title people will recognise.")]
    content: Annotated[str, Field(description="The text, plain or Markdown.")]
    tags: Annotated[Tags, Field(default_factory=list, description="Labels to filter by.")]
    collection_id: Annotated[Id | None, Field(default=None, description="A collection to put it into.")]


class GetDocument(Model):
    """Which document, by id."""

    document_id: DocumentId


class ListDocuments(Model):
    """Which documents to list, newest first."""

    collection_id: Annotated[Id | None, Field(default=None, description="Only members of this collection.")]
    search: Annotated[str | None, Field(default=None, max_length=500, description="Only titles that hold this text.")]
    limit: PageSize
    tags: Annotated[TagFilter, Field(default_factory=list)]
    cursor: After


class Lease(Model):
    """The lease that a write of a managed document shows: its id and its fence, both or neither."""

    lease_id: Annotated[
        str | None,
        FromHeader("X-ContextRepo-Lease-Id"),
        Field(default=None, alias="X-ContextRepo-Lease-Id", max_length=200, description="The id of the lease held."),
    ]
    lease_fence: Annotated[
        Positive | None,
        FromHeader("X-ContextRepo-Lease-Fence"),
        Field(default=None, alias="X-ContextRepo-Lease-Fence", description="The fence of the lease held."),
    ]

    @model_validator(mode="after")
    def _both(self) -> Self:
        if (self.lease_id is None) != (self.lease_fence is None):
            msg = "X-ContextRepo-Lease-Id and X-ContextRepo-Lease-Fence belong together; send both"
            raise ValueError(msg)
        return self

    @property
    def lease_digest(self) -> bytes | None:
        """The lease's id as it is stored; None when no lease is shown."""
        return None if self.lease_id is None else Token(self.lease_id).digest()


class PatchDocument(Guarded, Lease):
    """Changes to a document; what is left out stays."""

    document_id: DocumentId
    title: Annotated[Title | None, Field(default=None, description="A new title.")]
    content: Annotated[str | None, Field(default=None, description="The whole new text.")]
    tags: Annotated[Tags | None, Field(default=None, description="The whole new list; [] removes all tags.")]
    change_log: Annotated[ChangeLog, Field(default=None)]

    _keep = field_validator("title", "content", "tags", mode="before")(not_null)


class DeleteDocument(Guarded, Lease):
    """Which document to move to the trash."""

    document_id: DocumentId


class ListVersions(Model):
    """Whose versions."""

    document_id: DocumentId
    limit: Annotated[Positive, Field(default=MAX_LIMIT, description="Page size, 100 at most.")]
    cursor: After


class RestoreVersion(Guarded, Lease):
    """Which version to make current again."""

    document_id: DocumentId
    version_id: Annotated[UUID, Field(description="The id of the version, from the list of versions.")]
    change_log: Annotated[ChangeLog, Field(default=None)]


class DocumentItem(Model):
    """A document in a list: without its content."""

    id: UUID
    title: str
    status: Status
    status_reason: Annotated[str | None, Field(default=None, exclude_if=absent)]
    source_type: str
    source_url: Annotated[str | None, Field(default=None, exclude_if=absent)]
    tags: list[str]
    current_version: int
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
        """Whether `status` will stay while the revision does."""
        return self.status in FINAL


class Document(DocumentItem):
    """A document with its content."""

    content: str
    policy: str


class Notice(Model):
    """Something the caller should know about a write that succeeded."""

    code: str
    message: str
    fields: list[str]


class DocumentAck(Model):
    """The compact acknowledgement of a write: what the next write must name."""

    id: UUID
    title: str
    current_version: int
    revision: int
    content_hash: str
    last_changed_at: EpochMs
    noop: bool
    warnings: Annotated[list[Notice], Field(default_factory=list, exclude_if=lambda value: not value)]

    @property
    def etag(self) -> str:
        """The strong entity tag of the current revision."""
        return revisions.etag(self.revision, self.content_hash)


class Version(Model):
    """A version: a revision that changed the content."""

    id: UUID
    version: int
    revision: int
    title: Annotated[str | None, Field(description="null, like content and tags, where imported history lacks it.")]
    content: str | None
    tags: list[str] | None
    user_name: str
    change_log: str | None
    created_at: EpochMs
