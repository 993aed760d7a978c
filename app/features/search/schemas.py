"""Arguments and results of search (contract: operation 29, 2.4)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self
from uuid import UUID

from pydantic import Field, model_validator

from app.kit.asof import TIME, AsOfTime
from app.kit.schema import Model, Positive, TagFilter, absent
from app.kit.trust import Shown

DEFAULT_LIMIT = 20
MAX_LIMIT = 100
MAX_QUERY = 2_000
NAMED_COPIES = 20
"""Copies that a hit names; it counts the others."""
COPIED_FROM = 100
"""Characters of a passage from which on it may be one of a copy: short notes stand for themselves."""

QueryText = Annotated[str, Field(min_length=1, max_length=MAX_QUERY, pattern=r"\S")]


class Kind(StrEnum):
    """What to search."""

    ALL = "all"
    PROMPTS = "prompts"
    DOCUMENTS = "documents"
    COLLECTIONS = "collections"

    @property
    def item(self) -> str:
        """One of them, in a word, as ids and the database name it."""
        return self.value.removesuffix("s")


class SearchMode(StrEnum):
    """How a search looks."""

    HYBRID = "hybrid"
    LEXICAL = "lexical"
    LITERAL = "literal"


class Search(Model):
    """What to look for, and how."""

    q: Annotated[QueryText, Field(description="What to look for, in words.")]
    type: Annotated[Kind, Field(default=Kind.ALL, description="Only items of this type.")]
    semantic: Annotated[
        bool, Field(default=True, description="true: by meaning and words; false: the literal text, ignoring case.")
    ]
    tags: Annotated[TagFilter, Field(default_factory=list)]
    limit: Annotated[Positive, Field(default=DEFAULT_LIMIT, description="Hits of each type, at most 100.")]
    as_of: Annotated[
        AsOfTime | None, Field(default=None, description=f"Documents as they were at {TIME}, by words or literally.")
    ]

    @model_validator(mode="after")
    def _documents_alone(self) -> Self:
        if self.as_of is not None and self.type in {Kind.PROMPTS, Kind.COLLECTIONS}:
            msg = f"asOf: only documents are searched as they were; leave out type={self.type.value} or asOf"
            raise ValueError(msg)
        return self


class PromptHit(Shown):
    """A prompt that matches."""

    prompt_id: UUID
    title: str
    description: str
    score: Annotated[float | None, Field(default=None, exclude_if=absent)]


class DocumentCopy(Shown):
    """A document with the same text."""

    document_id: UUID
    title: str


class DocumentHit(Shown):
    """A document that matches, with the passage that matches best."""

    document_id: UUID
    title: str
    score: Annotated[
        float | None, Field(default=None, exclude_if=absent, description="Relevance from 0 to 1; 0.35 and more counts.")
    ]
    status: str
    section_path: Annotated[
        str | None,
        Field(
            default=None, exclude_if=absent, description="The headings above the passage: `Chapter 1 > Section 1.2`."
        ),
    ]
    highlight: Annotated[str | None, Field(default=None, exclude_if=absent)]
    chunk_id: Annotated[UUID | None, Field(default=None, exclude_if=absent)]
    revision: Annotated[
        int | None,
        Field(default=None, exclude_if=absent, description="With `asOf`: the revision of then, by which it is read."),
    ]
    copies: Annotated[
        list[DocumentCopy],
        Field(
            default_factory=list,
            exclude_if=lambda found: not found,
            description="Others with the same text, at most 20: each text is found once.",
        ),
    ]
    more_copies: Annotated[
        int, Field(default=0, exclude_if=lambda count: not count, description="Copies found beyond those named.")
    ]


class MatchedItem(Shown):
    """A member of a collection that was found itself."""

    type: Annotated[str, Field(description="document or prompt.")]
    id: UUID
    title: str
    score: Annotated[float | None, Field(default=None, exclude_if=absent)]


class CollectionHit(Shown):
    """A collection that matches, by itself or through its members: its score is the best of these."""

    collection_id: UUID
    name: str
    description: str
    score: Annotated[float | None, Field(default=None, exclude_if=absent)]
    matched_items: Annotated[
        list[MatchedItem],
        Field(
            default_factory=list,
            exclude_if=lambda found: not found,
            description="Members found, best first; at most 5.",
        ),
    ]


class Hits(Model):
    """Hits by type, best first."""

    prompts: list[PromptHit]
    documents: list[DocumentHit]
    collections: list[CollectionHit]


class IndexState(Model):
    """How much of what was searched is in the index as it is now."""

    total: Annotated[int, Field(description="Items in the scope of the search.")]
    pending: Annotated[int, Field(description="Those whose current text is not searchable by meaning yet.")]


class SearchScope(Model):
    """What was searched."""

    types: Annotated[list[Kind], Field(description="Only types that the credential may read.")]
    tags: list[str]
    restricted: Annotated[bool, Field(description="true: only members of the collections that the key is limited to.")]


class SearchMeta(Model):
    """How the search was done, over what, and what it could not see yet."""

    semantic: bool
    query: str
    mode: Annotated[
        SearchMode,
        Field(
            description="hybrid: words and meaning; lexical: words alone, and `notice` says why; literal: the text as"
            " it stands."
        ),
    ]
    as_of: Annotated[
        str | None, Field(default=None, exclude_if=absent, description="The time, as it was sent: all is as of then.")
    ]
    scope: SearchScope
    index: IndexState
    pending: Annotated[int, Field(description="The same as `index.pending`.")]
    notice: Annotated[str | None, Field(default=None, exclude_if=absent)]


class SearchResult(Model):
    """`{"data": …, "meta": …}`."""

    data: Hits
    meta: SearchMeta


class FindByQuery(Model):
    """One query over everything that the caller may read."""

    query: Annotated[QueryText, Field(description="What to look for, in words.")]


class ResultLink(Model):
    """An item to open or to fetch."""

    id: str
    title: str
    url: str


class ResultLinks(Model):
    """`{"results": […], "meta": …}`, best first."""

    results: list[ResultLink]
    meta: SearchMeta


class FetchItem(Model):
    """Which item, by the id that `search` gave."""

    id: Annotated[str, Field(max_length=200, description="`document_<id>`, `prompt_<id>` or `collection_<id>`.")]


class ItemMetadata(Model):
    """What kind of item it is."""

    type: str


class FetchedItem(Shown):
    """An item as text, with the address where a person can open it."""

    id: str
    title: str
    text: str
    url: str
    metadata: ItemMetadata
