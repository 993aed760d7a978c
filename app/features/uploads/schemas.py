"""Arguments of uploads, and the file that was sent."""

from __future__ import annotations

import hashlib
import re
from typing import Annotated

from pydantic import AfterValidator, Field, computed_field

from app.features.documents.schemas import DocumentId, Title
from app.kit.ids import Id
from app.kit.kinds import UNNAMED
from app.kit.schema import FromFile, Model, Tags

MAX_NAME = 255


def _base_name(value: str) -> str:
    """Leave out folders and what cannot be shown: some clients send the whole path."""
    name = value.replace("\\", "/").rpartition("/")[2]
    return "".join(filter(str.isprintable, name)).strip() or "file"


def _plain(value: str) -> str:
    """Keep the media type alone, if it is one: it is sent back as a header."""
    media_type = value.partition(";")[0].strip().lower()
    return media_type if re.fullmatch(r"[a-z0-9.+-]+/[a-z0-9.+-]+", media_type) else UNNAMED


class UploadedFile(Model):
    """A file as it was sent; its digest stands for its content where requests are compared."""

    name: Annotated[str, AfterValidator(_base_name), Field(max_length=MAX_NAME)]
    media_type: Annotated[str, AfterValidator(_plain), Field(max_length=200)]
    content: Annotated[bytes, Field(exclude=True, repr=False, min_length=1)]

    @computed_field  # type: ignore[prop-decorator]
    @property
    def digest(self) -> str:
        """SHA-256 of the content, in hex."""
        return hashlib.sha256(self.content).hexdigest()


class UploadDocument(Model):
    """The file to keep as a document."""

    file: Annotated[UploadedFile, FromFile(), Field(description="PDF, Office, HTML, EPUB, mail, text, code …")]
    title: Annotated[Title | None, Field(default=None, description="A title instead of the file's own or its name.")]
    tags: Annotated[Tags, Field(default_factory=list, description="Labels to filter by, by commas.")]
    collection_id: Annotated[Id | None, Field(default=None, description="A collection that it belongs to at once.")]


class GetOriginal(Model):
    """Which document's file."""

    document_id: DocumentId


class Converted(Model):
    """What was read from a file."""

    content: str
    title: str | None = None
