"""Arguments and results of reasoning and of citations (contract: operation 34, 2.4)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import Field

from app.features.navigation.schemas import Within
from app.features.search.schemas import QueryText
from app.kit.schema import Model, Positive, absent
from app.kit.trust import Shown

DEFAULT_LIMIT = 8
MAX_LIMIT = 50


class Reason(Within):
    """What to answer, and from where."""

    query: Annotated[QueryText, Field(description="The question.")]
    limit: Annotated[Positive, Field(default=DEFAULT_LIMIT, description="Passages to read, at most 50.")]


class Mode(StrEnum):
    """How an answer was made."""

    EXTRACTIVE = "extractive"
    MODEL = "model"


class Citation(Shown):
    """What a statement rests on: a span of one revision of a document; `id` opens it later."""

    id: str
    chunk_id: UUID
    document_id: UUID
    document_title: str
    score: float
    revision: int
    start_index: int
    end_index: int
    quote: str
    quote_hash: Annotated[str, Field(description="SHA-256 of the quote.")]


class ReasonMeta(Model):
    """How the answer came about."""

    chunks_gathered: int
    citations_dropped: Annotated[int, Field(description="Marks in a model's answer that named no gathered passage.")]
    latency_ms: int
    mode: Mode
    model: Annotated[str | None, Field(default=None, exclude_if=absent)]


class Answer(Model):
    """An answer whose statements end in `[[chunkId]]`; empty where nothing stored answers."""

    answer: str
    citations: list[Citation]
    limitations: Annotated[list[str], Field(description="What the answer does not cover.")]
    gaps: Annotated[list[str], Field(description="The same list, for earlier clients.")]
    conflicts: Annotated[list[str], Field(description="Empty: disagreements are cited statements in the answer.")]
    meta: ReasonMeta


class OpenCitation(Model):
    """Which citation."""

    citation_id: Annotated[str, Field(max_length=200, description="`id` of a citation.")]


class Standing(Model):
    """Where the cited text stands now."""

    revision: int
    start_index: int
    end_index: int


class OpenedCitation(Shown):
    """The text as it was cited, and whether the document still says it."""

    id: str
    document_id: UUID
    document_title: str
    chunk_id: UUID
    revision: int
    start_index: int
    end_index: int
    quote: str
    quote_hash: str
    changed: Annotated[bool, Field(description="Whether the document no longer holds the quote.")]
    current_revision: int
    current: Annotated[
        Standing | None, Field(default=None, exclude_if=absent, description="Where the quote stands now, if it does.")
    ]
