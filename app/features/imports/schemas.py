"""Arguments and results of imports, and the records of an archive."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints, model_validator

from app.features.collections import schemas as collections
from app.features.documents.schemas import ChangeLog, Title
from app.features.prompts.schemas import Description, Parameters, Variables
from app.kit.ids import Id
from app.kit.schema import Instant, Model, OldTags, UpTo, absent

MAX_ENTRIES = 1_000
MAX_CHUNKS = 1_000_000
MAX_PATH = 200
MAX_URL = 2_048
MAX_NAME = 200
MAX_FILE_NAME = 255

ImportId = Annotated[Id, Field(description="The import's id.")]
Sha256 = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
Name = Annotated[str, Field(max_length=MAX_NAME)]
Number = Annotated[int, Field(ge=1, le=1_000_000_000)]

_WEB = re.compile(r"https?://[^\s\x00-\x1f\x7f]+", re.IGNORECASE)


def _web_address(url: str) -> str:
    if not _WEB.fullmatch(url):
        msg = "must be an http or https address"
        raise ValueError(msg)
    return url


class StartImport(Model):
    """No arguments: what is imported comes in chunks."""


class Entry(Model):
    """A file of an archive."""

    path: Annotated[str, Field(min_length=1, max_length=MAX_PATH, description="Its name in the archive.")]
    text: Annotated[str | None, Field(default=None, description="Its text.", exclude_if=absent)]
    base64: Annotated[
        str | None,
        Field(
            default=None,
            pattern="^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
            description="Instead, of an `original`: its bytes. A large one comes in pieces, entry after entry, "
            "each but the last of a number of bytes that 3 divides.",
            exclude_if=absent,
        ),
    ]

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if (self.text is None) == (self.base64 is None):
            msg = "send text or base64"
            raise ValueError(msg)
        return self


class PutChunk(Model):
    """Some files of an archive, in the archive's order."""

    import_id: ImportId
    number: Annotated[int, UpTo(MAX_CHUNKS), Field(description="1 for the first chunk, then one more each.")]
    entries: Annotated[list[Entry], Field(min_length=1, max_length=MAX_ENTRIES)]


class ReadImport(Model):
    """Which import."""

    import_id: ImportId


class Counts(Model):
    """What an import did with the items."""

    created: int = 0
    existing: Annotated[int, Field(default=0, description="Items whose ids were there before; they stay as they are.")]
    texts: int = 0


class Chunk(Model):
    """A chunk that was taken."""

    number: int
    counts: Counts


class Import(Model):
    """An import: what was taken so far."""

    id: UUID
    finished: bool
    chunks: Annotated[int, Field(description="How many chunks were taken, from the first on; go on after these.")]
    counts: Counts
    created_at: datetime


class Record(Model):
    """A line of an item's history; what a later release adds is passed over."""

    model_config = ConfigDict(extra="ignore")


class FileRecord(Record):
    """The file that a document was made from."""

    name: Annotated[str, Field(min_length=1, max_length=MAX_FILE_NAME)]
    media_type: Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
    digest: Sha256


class DocumentRecord(Record):
    """The first line of a document."""

    type: Literal["document"]
    id: UUID
    created_at: Instant
    source_type: Annotated[str, Field(default="text", pattern="^[a-z]{1,20}$")]
    source_url: Annotated[
        Annotated[str, Field(max_length=MAX_URL), AfterValidator(_web_address)] | None, Field(default=None)
    ]
    file: Annotated[FileRecord | None, Field(default=None)]


class RevisionRecord(Record):
    """A revision; a field that is null was not kept."""

    type: Literal["revision"]
    id: UUID
    revision: Number
    version: Annotated[int, Field(ge=0, le=1_000_000_000)]
    content_changed: bool
    title: Annotated[Title | None, Field(default=None)]
    tags: Annotated[OldTags | None, Field(default=None)]
    text: Annotated[Sha256 | None, Field(default=None)]
    change_log: Annotated[ChangeLog, Field(default=None)]
    user_name: Name
    agent: Annotated[Name | None, Field(default=None)]
    decided_at: Instant


class PromptState(Record):
    """What a revision of a prompt says beside its text."""

    title: Title
    description: Description
    tags: OldTags
    variables: Annotated[Variables | None, Field(default=None)]
    parameters: Parameters
    archived: bool = False
    revision: Number


class PromptRecord(PromptState):
    """The first line of a prompt: its last revision."""

    type: Literal["prompt"]
    id: UUID
    created_at: Instant
    last_changed_at: Instant


class PromptRevisionRecord(PromptState):
    """An earlier revision of a prompt."""

    type: Literal["revision"]
    version: Number
    decided_at: Instant


class VersionRecord(Record):
    """A version of a prompt."""

    type: Literal["version"]
    id: UUID
    version: Number
    revision: Number
    text: Sha256
    change_log: Annotated[ChangeLog, Field(default=None)]
    user_name: Name
    agent: Annotated[Name | None, Field(default=None)]
    decided_at: Instant


class LabelRecord(Record):
    """A label of a prompt."""

    type: Literal["label"]
    label: Annotated[str, Field(min_length=1, max_length=64)]
    version: Number
    user_name: Name
    moved_at: Instant


class CollectionRecord(Record):
    """The first line of a collection."""

    type: Literal["collection"]
    id: UUID
    name: collections.Name
    description: collections.Description
    color: Annotated[collections.Color | None, Field(default=None)]
    icon: collections.Icon
    tags: OldTags
    revision: Number
    created_at: Instant
    last_changed_at: Instant


class ItemRecord(Record):
    """A member of a collection."""

    type: Literal["item"]
    item_type: Literal["document", "prompt"]
    item_id: UUID
    added_at: Instant


RECORDS: dict[str, tuple[type[Any], tuple[type[Any], ...]]] = {
    "documents": (DocumentRecord, (RevisionRecord,)),
    "prompts": (PromptRecord, (VersionRecord, PromptRevisionRecord, LabelRecord)),
    "collections": (CollectionRecord, (ItemRecord,)),
}
"""By folder of the archive: the record of the first line, and those that follow."""
