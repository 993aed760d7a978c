"""Arguments and results of documents: the truth for REST, MCP, the command line and OpenAPI (contract: 2.1 to 2.3)."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import Field, StringConstraints, WithJsonSchema, field_validator, model_validator

from app.kit import revision as revisions
from app.kit.asof import TIME, AsOf
from app.kit.guarded import Fence, Guarded, Lease
from app.kit.ids import Id
from app.kit.markdown import Deed, TextEdit, Where
from app.kit.paging import MAX_LIMIT, After, PageSize, Sorted
from app.kit.schema import (
    EachAlone,
    EpochMs,
    Model,
    NotBlank,
    Positive,
    RestOnly,
    TagFilter,
    Tags,
    absent,
    as_list,
    field_error,
    not_null,
)
from app.kit.trust import Shown

MAX_TITLE = 500
MAX_CHANGE_LOG = 2_000
MAX_EDITS = 100
MAX_CONTENT_BYTES = 10 * 1024 * 1024
"""Of what edits may make of a content; a whole one is bounded by the body that brings it."""

DocumentId = Annotated[Id, Field(description="The document's id.")]
Title = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TITLE, pattern=r"\S"), NotBlank]
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
    as_of: Annotated[
        AsOf | None, Field(default=None, description=f"A revision or {TIME}: the document as it was then.")
    ]


class DiffDocument(Model):
    """Which two states of a document to compare."""

    document_id: DocumentId
    from_: Annotated[AsOf, Field(alias="from", description=f"A revision or {TIME}.")]
    to: Annotated[AsOf | None, Field(default=None, description=f"A revision or {TIME}; the current one unless given.")]


class ListDocuments(Sorted):
    """Which documents to list."""

    collection_id: Annotated[Id | None, Field(default=None, description="Only members of this collection.")]
    search: Annotated[str | None, Field(default=None, max_length=500, description="Only titles that hold this text.")]
    status: Annotated[Status | None, RestOnly(), Field(default=None, description="Only documents of this status.")]
    limit: PageSize
    tags: Annotated[TagFilter, Field(default_factory=list)]
    cursor: After


class Edit(Model):
    """One change of the content, in a section or around an exact text; everything outside stays as it is.

    With `find`: that text, which must be there once (in the section, if one is named, or what is below it). With
    `section` alone: its own text is replaced, its heading with all below it is deleted, or whole lines are inserted.
    With neither: an insertion at the start or end of the content.
    """

    op: Annotated[Deed, Field(description="What to do.")]
    section: Annotated[
        str | None,
        Field(default=None, min_length=1, max_length=2_000, description="Heading, `Path > Heading` or `#anchor`."),
    ]
    find: Annotated[str | None, Field(default=None, min_length=1, description="Exact text; must be there once.")]
    text: Annotated[str | None, Field(default=None, description="The new text.")]
    position: Annotated[
        Where | None,
        Field(default=None, description="Of insert: `end` unless given; with `find`, `after` it unless `before`."),
    ]

    @model_validator(mode="after")
    def _sensible(self) -> Self:
        if (problem := self._problem()) is not None:
            raise ValueError(problem)
        return self

    def _problem(self) -> str | None:
        if self.op is Deed.DELETE and self.text is not None:
            return "delete takes no text; use replace"
        if self.op is not Deed.DELETE and self.text is None:
            return f"{self.op.value} needs text"
        if self.op is Deed.INSERT:
            return self._misplaced()
        if self.position is not None:
            return "position is for insert"
        return None if self.section or self.find else f"{self.op.value} needs section or find"

    def _misplaced(self) -> str | None:
        if self.find is not None and self.position in (Where.START, Where.END):
            return "with find, position is before or after"
        if self.find is None and self.section is None and self.position in (Where.BEFORE, Where.AFTER):
            return "before and after need section or find"
        return None

    def to_text_edit(self) -> TextEdit:
        """Give it in the words of the editor."""
        return TextEdit(self.op, self.section, self.find, self.text or "", self.position)


class PatchDocument(Guarded, Lease):
    """Changes to a document; what is left out stays."""

    document_id: DocumentId
    title: Annotated[Title | None, Field(default=None, description="A new title.")]
    content: Annotated[str | None, Field(default=None, description="The whole new text.")]
    edits: Annotated[
        list[Edit] | None,
        Field(
            default=None,
            min_length=1,
            max_length=MAX_EDITS,
            description="Instead of content: changes of parts of it, all or none.",
        ),
    ]
    tags: Annotated[Tags | None, Field(default=None, description="The whole new list; [] removes all tags.")]
    change_log: Annotated[ChangeLog, Field(default=None)]

    _keep = field_validator("title", "content", "edits", "tags", mode="before")(not_null)
    _read = field_validator("edits", mode="before")(as_list)

    @model_validator(mode="after")
    def _one_content(self) -> Self:
        if self.content is not None and self.edits is not None:
            raise field_error("edits", "send content or edits, not both")
        return self


class DeleteDocument(Guarded, Lease):
    """Which document to move to the trash."""

    document_id: DocumentId


class ListVersions(Model):
    """Whose versions."""

    document_id: DocumentId
    limit: Annotated[Positive, Field(default=MAX_LIMIT, description="Page size, 100 at most.")]
    cursor: After


class ListRevisions(Model):
    """Whose revisions."""

    document_id: DocumentId
    limit: PageSize
    cursor: After


class RestoreVersion(Guarded, Lease):
    """Which version to make current again."""

    document_id: DocumentId
    version_id: Annotated[UUID, Field(description="The id of the version, from the list of versions.")]
    change_log: Annotated[ChangeLog, Field(default=None)]


class NamedLease(Lease):
    """A lease that travels as ordinary arguments, where there are no headers."""

    lease_id: Annotated[
        str | None, Field(default=None, max_length=200, description="Of a lease-managed document: the lease you hold.")
    ]
    lease_fence: Annotated[Fence | None, Field(default=None, description="The fence of that lease.")]


class LeasedPatch(NamedLease, PatchDocument):
    """Changes to a document, with the lease among the arguments."""


class LeasedRestore(NamedLease, RestoreVersion):
    """A version to make current again, with the lease among the arguments."""


class LeasedDelete(NamedLease, DeleteDocument):
    """A document to delete, with the lease among the arguments."""


class DocumentItem(Shown):
    """A document in a list: without its content."""

    id: UUID
    title: str
    status: Status
    status_reason: Annotated[str | None, Field(default=None, exclude_if=absent)]
    source_type: str
    source_url: Annotated[str | None, Field(default=None, exclude_if=absent)]
    tags: list[str]
    current_version: Annotated[int, Field(description="0 while the file it comes from is not read.")]
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


class Version(Shown):
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


class Revision(Shown):
    """A revision: what `asOf` reads, without its content."""

    id: UUID
    revision: int
    version: Annotated[int, Field(description="The version whose content this is.")]
    content_changed: Annotated[bool, Field(description="Whether this revision made that version.")]
    content_hash: str
    title: Annotated[str | None, Field(description="null, like tags, where imported history lacks it.")]
    tags: list[str] | None
    user_name: str
    change_log: str | None
    created_at: datetime


class Hunk(Model):
    """Lines that became other lines; the first line of a text is 1. One side is empty where lines came or went."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    section: Annotated[list[str], Field(description="Headings above the first new line, outermost first.")]
    removed: list[str]
    added: list[str]


class SectionChange(Model):
    """What became of a section: its heading with its own text, without the sections below it."""

    path: Annotated[list[str], Field(description="Headings, outermost first; empty for the text above the first.")]
    change: Literal["added", "removed", "changed"]


class DocumentDiff(Shown):
    """What differs between two revisions of a document."""

    id: UUID
    from_revision: int
    to_revision: int
    old_title: Annotated[str | None, Field(description="null, like other titles and tags, where an import lacks it.")]
    new_title: str | None
    old_tags: list[str] | None
    new_tags: list[str] | None
    sections: list[SectionChange]
    hunks: list[Hunk]
    unified: Annotated[str, Field(description="The lines as a unified diff.")]
    truncated: Annotated[bool, Field(description="Whether hunks or unified were cut, since they were too long.")]


MAX_ITEMS = 500


class BatchOp(StrEnum):
    """What an item of a batch does."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"


_ITEM_SCHEMA = {
    "type": "object",
    "properties": {
        "op": {"type": "string", "enum": [op.value for op in BatchOp]},
        "documentId": {"type": "string", "description": "Of update and delete."},
        "idempotencyKey": {"type": "string", "maxLength": 255, "description": "Of this item alone."},
    },
    "required": ["op"],
    "additionalProperties": True,
}

BatchItem = Annotated[dict[str, Any], WithJsonSchema(_ITEM_SCHEMA)]
"""`op` with the fields of that operation; each is judged by itself, so that a wrong one fails alone."""


class BatchDocuments(Model):
    """Writes of documents, each for itself."""

    items: Annotated[
        list[BatchItem],
        EachAlone(),
        Field(
            min_length=1,
            max_length=MAX_ITEMS,
            description="Each `op` (create, update, delete) with the fields of that operation's body, `documentId`, "
            "and `leaseId` and `leaseFence` where a document is lease-managed.",
        ),
    ]


class ItemAnswer(Model):
    """What became of an item: the status that a call of its own would have had, with its data or its error."""

    status: int
    data: Annotated[Document | DocumentAck | None, Field(default=None, exclude_if=absent)]
    error: Annotated[dict[str, Any] | None, Field(default=None, exclude_if=absent)]


class BatchAnswer(Model):
    """One answer for each item, in their order."""

    data: list[ItemAnswer]
