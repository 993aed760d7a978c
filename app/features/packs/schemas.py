"""Arguments and results of packs."""

from __future__ import annotations

import hashlib
import re
from enum import StrEnum
from typing import Annotated, Self
from uuid import UUID

from pydantic import Field, model_validator

from app.features.navigation.schemas import Within
from app.features.search.schemas import QueryText
from app.kit.schema import Model, Positive, absent, field_error
from app.kit.trust import Shown, Trust

DEFAULT_TOKENS = 4_000
MAX_TOKENS = 32_000
_HASH = re.compile(r"[0-9a-f]{64}")


class MakePack(Within):
    """What a pack is about, and how long it may be."""

    query: Annotated[
        QueryText | None,
        Field(default=None, description="What it is about; without it a collection's or document's whole text."),
    ]
    tokens: Annotated[
        Positive, Field(default=DEFAULT_TOKENS, description="The most tokens that its text may have, up to 32,000.")
    ]

    @model_validator(mode="after")
    def _about_something(self) -> Self:
        if self.query is None and self.collection_id is None and self.document_id is None:
            raise field_error("query", "name a query, a collectionId or a documentId")
        return self


class GetPack(Model):
    """Which pack."""

    hash: Annotated[str, Field(description="`hash` of a pack; a text that is none is simply not found.")]

    @property
    def digest(self) -> bytes | None:
        """The bytes of the hash; None of a text that is none."""
        return bytes.fromhex(self.hash) if _HASH.fullmatch(self.hash) else None


class Reason(StrEnum):
    """Why something was left out."""

    BUDGET = "budget"
    DUPLICATE = "duplicate"


class Span(Model):
    """Characters of a revision's content, and the headings that they stand under."""

    start_index: int
    end_index: int
    section_path: list[str]


class PackedDocument(Model):
    """A document that a pack took texts from, at the revision that they are of, in the order of the text."""

    document_id: UUID
    title: str
    revision: int
    spans: list[Span]


class LeftOut(Model):
    """What a pack has no room for, of one document."""

    document_id: UUID
    title: str
    revision: int
    reason: Reason
    passages: Annotated[int, Field(description="How many passages; 1 where it is the whole text.")]
    tokens: Annotated[int | None, Field(description="What they would have cost; null where that was not counted.")]


class Manifest(Model):
    """All of a pack but its text, which follows from it; its digest is the pack's hash."""

    query: str | None
    collection_id: UUID | None
    document_id: UUID | None
    budget: int
    tokens: Annotated[int, Field(description="Exact tokens of the text.")]
    tokenizer: Annotated[str, Field(description="The encoding that counted them.")]
    text_hash: Annotated[str, Field(description="SHA-256 of the text, in hex.")]
    documents: list[PackedDocument]
    left_out: Annotated[list[LeftOut], Field(description="Best first; the first hundred.")]
    left_out_more: Annotated[int, Field(description="Further documents that were left out.")]
    pending: Annotated[int, Field(description="Documents in scope whose current text search does not know yet.")]
    notice: Annotated[str | None, Field(default=None, exclude_if=absent)]

    @property
    def named(self) -> set[UUID]:
        """The documents that it tells of."""
        return {item.document_id for item in self.documents} | {item.document_id for item in self.left_out}

    @property
    def digest(self) -> bytes:
        """SHA-256 of the manifest as JSON: the same state of the same documents gives the same pack."""
        return hashlib.sha256(self.to_json()).digest()


class Pack(Manifest, Shown):
    """A bundle of stored texts; the same request over the same texts gives the same bytes.

    `trust` is that of the text in it that comes from farthest, and no part of the hash: it depends on who reads.
    """

    hash: Annotated[str, Field(description="Get it again with GET /v1/packs/{hash}.")]
    text: Annotated[str, Field(description="The texts under their titles and headings, as Markdown.")]

    @classmethod
    def of(cls, manifest: Manifest, text: str, trust: Trust | None) -> Pack:
        """Put a manifest and its text together."""
        fields = {name: getattr(manifest, name) for name in _MANIFEST}
        return cls(hash=manifest.digest.hex(), text=text, trust=trust, **fields)


_MANIFEST = tuple(Manifest.model_fields)
