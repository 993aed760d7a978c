"""Base of every wire model: camelCase on the wire, unknown fields refused, and the two envelopes."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, TypeVar
from urllib.parse import quote

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    PlainSerializer,
    StringConstraints,
    ValidationError,
    WithJsonSchema,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError, core_schema

from app.kit.sanitize import sanitize

T = TypeVar("T")
FIRST_YEAR, LAST_YEAR = 1899, 9999


class Model(BaseModel):
    """A wire model: fields in snake_case here, camelCase on the wire; an unknown field is an error that names it."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True)

    def to_json(self) -> bytes:
        """Serialize to the compact one-line JSON that goes over every wire."""
        return self.__pydantic_serializer__.to_json(self, by_alias=True)


class FromHeader:
    """Mark a field that travels as an HTTP header on REST and is absent from the body and from tools."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class FromFile:
    """Mark the field that is a file: on REST the arguments are a form then (`multipart/form-data`)."""

    __slots__ = ()


class EachAlone:
    """Mark a field of items that are read one by one later: what cannot be stored in one is that item's fault alone."""

    __slots__ = ()


class RestOnly:
    """Mark a field that REST takes and tools do not."""

    __slots__ = ()


def absent(value: object) -> bool:
    """Leave a field out of the JSON when it has no value (for `Field(default=None, exclude_if=absent)`)."""
    return value is None


def not_null(value: Any) -> Any:
    """Refuse an explicit null in a change, where it would silently mean `keep` (for a `before` validator)."""
    if value is None:
        msg = "must not be null; leave it out to keep it"
        raise ValueError(msg)
    return value


def field_error(field: str, message: str) -> ValidationError:
    """Say in a validator of a whole model which field is wrong or lacking, by its name on the wire."""
    problem = PydanticCustomError("field", message)
    return ValidationError.from_exception_data(field, [{"type": problem, "loc": (field,), "input": None}])


class One(Model, Generic[T]):
    """`{"data": …}`; its entity tag is that of what it holds."""

    data: T

    @property
    def etag(self) -> str | None:
        """The strong entity tag of the data, where it has revisions."""
        tag: str | None = getattr(self.data, "etag", None)
        return tag

    @property
    def final(self) -> bool:
        """Whether the body cannot change while the tag stays: only then may a 304 be answered."""
        return bool(getattr(self.data, "final", True))


class Binary(Model):
    """A file as an answer: REST sends its bytes as an attachment of its media type."""

    name: str
    media_type: str
    digest: str
    content: bytes

    def to_json(self) -> bytes:
        """Give what goes over the wire: the file itself."""
        return self.content

    @property
    def etag(self) -> str:
        """The strong entity tag: the digest of the bytes."""
        return f'"{self.digest}"'

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """What tells a client how to keep it (RFC 6266, RFC 8187)."""
        named = f"attachment; filename*=UTF-8''{quote(self.name, safe='')}"
        return [(b"content-type", self.media_type.encode()), (b"content-disposition", named.encode())]


class Pagination(Model):
    """Where to go on: `cursor` goes back as a parameter while `hasMore` is true."""

    cursor: str | None
    has_more: bool


class Page(Model, Generic[T]):
    """`{"data": […], "pagination": {…}}`; `notice` says when a limit was clamped."""

    data: list[T]
    pagination: Pagination
    notice: Annotated[str | None, Field(default=None, exclude_if=absent)]


def _not_blank(value: str) -> str:
    """Refuse what is blank although a pattern of one visible character lets it through, such as U+001C."""
    if not value.strip():
        msg = "must not be blank"
        raise ValueError(msg)
    return value


NotBlank = AfterValidator(_not_blank)


def _seen(value: str) -> str:
    """Refuse what a reader cannot see: a name must not turn the text around it, or look like another one."""
    if sanitize(value) != value or "\t" in value or len(value.splitlines()) > 1:
        msg = "must not hold line breaks, control characters or hidden ones"
        raise ValueError(msg)
    return value


PlainName = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), AfterValidator(_seen)
]
"""What people call a thing that others see too."""


def in_utc(value: datetime) -> datetime:
    """Put a time with its zone into UTC.

    Raises:
        ValueError: it is before 1900 or after 9998: the ends of the calendar are no times in every zone, and the
            database reads them as infinite.
    """
    if FIRST_YEAR < value.year < LAST_YEAR:
        return value.astimezone(UTC)
    msg = f"must be a time of the years {FIRST_YEAR + 1} to {LAST_YEAR - 1}"
    raise ValueError(msg)


Instant = Annotated[AwareDatetime, AfterValidator(in_utc)]
"""A time with its zone, as a caller sends it; kept in UTC."""


def _milliseconds(value: datetime) -> int:
    return int(value.timestamp() * 1000)


EpochMs = Annotated[
    datetime,
    PlainSerializer(_milliseconds, return_type=int),
    WithJsonSchema({"type": "integer", "format": "int64", "description": "Milliseconds since 1970-01-01 UTC."}),
]


def _no_bool(value: object) -> object:
    if isinstance(value, bool):
        msg = "must be an integer, not a boolean"
        raise ValueError(msg)  # noqa: TRY004  pydantic turns only ValueError into a field error
    return value


MAX_SAFE_INTEGER = 2**53 - 1  # RFC 7493 section 2.2: what every JSON reader holds exactly


class UpTo:
    """Bound an integer from 1 up.

    One piece: bounds that are given to pydantic beside a validator show in JSON Schema by names that it does not have.
    """

    __slots__ = ("most",)

    def __init__(self, most: int) -> None:
        self.most = most

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Give the bounded integer, that no boolean is."""
        return core_schema.no_info_before_validator_function(_no_bool, core_schema.int_schema(ge=1, le=self.most))


Positive = Annotated[int, UpTo(MAX_SAFE_INTEGER)]
"""An integer of 1 or more; a numeric string is accepted, since some clients send all arguments as text."""


def as_list(value: object) -> object:
    """Read an array that arrives as JSON text, as a comma list or as one lone string (seen from real MCP clients)."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if text.startswith("["):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return [value]
    return [part.strip() for part in text.split(",") if part.strip()]


def _unique(values: list[str]) -> list[str]:
    return list(dict.fromkeys(values))


TAG_PATTERN = r"^[^\x00-\x1f\x7f-\x9f]+$"
NEW_TAG_PATTERN = r"^[^\x00-\x1f\x7f-\x9f,]+$"
_Tag = Annotated[str, Field(min_length=1, max_length=100)]
_NewTag = Annotated[_Tag, Field(pattern=NEW_TAG_PATTERN), AfterValidator(str.strip), NotBlank]
Tags = Annotated[list[_NewTag], BeforeValidator(as_list), AfterValidator(_unique), Field(max_length=100)]
"""Tags to keep, in the caller's order, without the blanks around each, duplicates dropped; each 1–100 characters.

None is blank, holds control characters, or a comma: lists of tags in addresses and forms are divided by commas.
"""

OldTags = Annotated[
    list[Annotated[_Tag, Field(pattern=TAG_PATTERN)]],
    BeforeValidator(as_list),
    AfterValidator(_unique),
    Field(max_length=100),
]
"""Tags as they may stand in rows and archives from before `Tags` said more: with commas, or blank."""

TagFilter = Annotated[OldTags, Field(description="Only items that carry all of these tags.")]
"""Tags to look for; an old one with a comma is found when it is sent in a JSON array."""


def unstorable(value: Any) -> str | None:
    """Name what Postgres text cannot hold in a decoded JSON value: U+0000 or a lone surrogate; None when clean."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            if "\x00" in item:
                return "U+0000"
            if not item.isascii() and not _encodable(item):
                return "a lone surrogate"
        elif isinstance(item, dict):
            stack.extend(item.keys())
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
    return None


def storable(text: str) -> str:
    """Leave out of a text what Postgres cannot hold."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode()


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
