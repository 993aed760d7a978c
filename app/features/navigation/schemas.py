"""Arguments and results of passages (contract: operations 30 to 33, 2.4)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import Field

from app.features.search.schemas import QueryText, SearchMode
from app.kit.ids import Id
from app.kit.schema import EpochMs, Model, Positive, absent
from app.kit.trust import Shown

DEFAULT_LIMIT = 10
MAX_LIMIT = 50
DEFAULT_COUNT = 2
DEFAULT_PARTS = 20
MAX_COUNT = 50

ChunkId = Annotated[Id, Field(description="A `chunkId` that deep_search, find_items or deep_expand gave.")]
Notice = Annotated[str | None, Field(default=None, exclude_if=absent, description="What else the caller should know.")]
Optional = Annotated[UUID | None, Field(default=None, exclude_if=absent)]
Cursor = Annotated[
    str | None,
    Field(default=None, exclude_if=absent, description="Goes back as `cursor` of deep_read: the text goes on."),
]


class Direction(StrEnum):
    """Where to go from a chunk."""

    UP = "up"
    DOWN = "down"
    NEXT = "next"
    PREVIOUS = "previous"
    SURROUNDING = "surrounding"


class Level(StrEnum):
    """How large a chunk is."""

    DOCUMENT = "document"
    SECTION = "section"
    PARAGRAPH = "paragraph"


class BeginSession(Model):
    """Nothing needs to be said."""


class Session(Model):
    """A search session: searches that name it skip what it already returned. Each use keeps it for another hour."""

    session_id: UUID
    created_at: EpochMs
    expires_at: EpochMs


class Within(Model):
    """Where to look."""

    document_id: Annotated[Id | None, Field(default=None, description="Only this document.")]
    collection_id: Annotated[Id | None, Field(default=None, description="Only members of this collection.")]


class SearchPassages(Within):
    """What to look for, and where."""

    query: Annotated[QueryText, Field(description="What to look for, in words.")]
    limit: Annotated[Positive, Field(default=DEFAULT_LIMIT, description="Passages, at most 50.")]
    session_id: Annotated[
        Id | None, Field(default=None, description="`meta.sessionId` of an earlier search: skips what that returned.")
    ]


class Siblings(Model):
    """The chunks before and after, of the same level and parent."""

    prev: Optional
    next: Optional


class PassageCopy(Model):
    """The same text in another document."""

    chunk_id: UUID
    document_id: UUID
    document_title: str


class FoundPassage(Shown):
    """A passage that a search found."""

    chunk_id: UUID
    score: Annotated[float, Field(description="Relevance from 0 to 1.")]
    level: Level
    document_title: str
    document_id: UUID
    section_path: Annotated[
        str | None,
        Field(default=None, exclude_if=absent, description="The headings above it, as in `find_items`; none: absent."),
    ]
    content: str
    parent_id: Optional
    sibling_ids: Siblings
    copies: Annotated[
        list[PassageCopy],
        Field(
            default_factory=list,
            exclude_if=lambda found: not found,
            description="The same text in other documents, at most 20: each text is found once.",
        ),
    ]
    more_copies: Annotated[
        int, Field(default=0, exclude_if=lambda count: not count, description="Copies found beyond those named.")
    ]


class PassagesMeta(Model):
    """How the search went, and what it could not see yet."""

    query: str
    total_results: int
    latency_ms: int
    session_id: Annotated[
        UUID | None,
        Field(default=None, exclude_if=absent, description="Name it in the next search to get other passages."),
    ]
    mode: Annotated[SearchMode, Field(description="`lexical`: words alone decided, and `notice` says why.")]
    total: Annotated[int, Field(description="Documents in scope.")]
    pending: Annotated[int, Field(description="Those of them whose current text is not searchable yet.")]
    notice: Notice


class FoundPassages(Model):
    """Passages, best first."""

    results: list[FoundPassage]
    meta: PassagesMeta


class ReadChunk(Model):
    """Which chunk, and from where on."""

    chunk_id: ChunkId
    cursor: Annotated[
        str | None,
        Field(
            default=None, pattern=r"^[0-9]{1,9}$", description="`cursor` of the answer before: the text's next part."
        ),
    ]


class Position(Model):
    """Where a chunk stands."""

    chunk_index: int
    parent_chunk_id: Optional
    prev_sibling_id: Optional
    next_sibling_id: Optional


class Hierarchy(Model):
    """What a chunk is part of."""

    document_title: str
    document_id: UUID
    section_path: str
    position: Position


class ChunkMetadata(Model):
    """Size and place; indexes are code points of the document's text at `revision`."""

    word_count: int
    start_index: int
    end_index: int
    heading_text: Annotated[str | None, Field(default=None, exclude_if=absent)]
    revision: int


class Chunk(Shown):
    """One chunk with what it is part of."""

    chunk_id: UUID
    level: Level
    content: str
    cursor: Cursor
    hierarchy: Hierarchy
    metadata: ChunkMetadata
    supersedes: Annotated[
        UUID | None,
        Field(default=None, exclude_if=absent, description="The id that was asked for, whose text is gone."),
    ]
    notice: Notice


class ExpandChunk(Model):
    """From where, and which way."""

    chunk_id: ChunkId
    direction: Annotated[
        Direction,
        Field(
            description="up: what holds it; down: its parts; next, previous: siblings; surrounding: both sides and it."
        ),
    ]
    count: Annotated[
        Positive | None,
        Field(default=None, description="Neighbours on each side, 2 unless given; parts, 20."),
    ]


class NearChunk(Shown):
    """A chunk near another."""

    legacy_id: Annotated[UUID, Field(alias="_id")]
    chunk_id: UUID
    level: Level
    chunk_index: int
    document_title: str
    document_id: UUID
    parent_id: Optional
    content: str
    cursor: Cursor


class NearChunks(Model):
    """Chunks in the order of the text."""

    chunks: list[NearChunk]
    supersedes: Annotated[UUID | None, Field(default=None, exclude_if=absent)]
    notice: Notice
