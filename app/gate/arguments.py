"""Arguments of operations out of decoded JSON, query and headers; what is wrong is named field by field."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from app.kit.errors import InvalidRequest
from app.kit.schema import NEW_TAG_PATTERN, TAG_PATTERN, EachAlone, Model, unstorable

if TYPE_CHECKING:
    from collections.abc import Mapping

A = TypeVar("A", bound=Model)

_MAX_PROBLEMS = 20
_MAX_FIELD_LENGTH = 200
_NO_ID = "not an id; take it from a list, a search or an earlier answer"
_NO_OBJECT = "must be an object"
_UNKNOWN = "unknown field; remove it"
_PAST = (
    "documents, prompts and the search for items alone are read as they were; leave it out here, and read what you "
    "find with it"
)
_MESSAGES = {
    "missing": "required",
    "uuid_parsing": _NO_ID,
    "uuid_type": _NO_ID,
    "model_type": _NO_OBJECT,
    "dict_type": _NO_OBJECT,
    "list_type": "must be an array",
}
_PATTERNS = {
    "String should match pattern '\\S'": "must hold more than blanks",
    f"String should match pattern '{TAG_PATTERN}'": "must not hold control characters",
    f"String should match pattern '{NEW_TAG_PATTERN}'": (
        "a tag must not hold commas, which stand between tags, or control characters"
    ),
}
"""Patterns in words: people and models read these messages."""
_MEMBER = re.compile(r"<\w+\.\w+: ('[^']*')>")
"""How pydantic shows a value of an enumeration that is one of a few."""


def parse_args(model: type[A], raw: dict[str, Any]) -> A:
    """Build an operation's arguments from decoded JSON, query and headers.

    Raises:
        InvalidRequest: with the fields and what is wrong with each, never with the values.
    """
    later = _read_later(model)
    now = {name: value for name, value in raw.items() if name not in later} if later else raw
    if (found := unstorable(now)) is not None:
        msg = f"The request holds {found}, which cannot be stored; remove it and send the request again."
        raise InvalidRequest(msg)
    if len(raw) > len(model.model_fields) + _MAX_PROBLEMS:
        msg = f"The request has {len(raw)} fields; send only those that are described."
        raise InvalidRequest(msg)
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        items = error.errors(include_url=False, include_input=False, include_context=False)[:_MAX_PROBLEMS]
        problems = [{"field": _field(item["loc"]), "message": _message(item)} for item in items]
        first = problems[0]
        more = f" (and {len(problems) - 1} more, see details)" if len(problems) > 1 else ""
        raise InvalidRequest(f"{first['field']}: {first['message']}{more}", details=problems) from error


@functools.cache
def _read_later(model: type[Model]) -> frozenset[str]:
    fields = model.model_fields.items()
    marked = ((name, field) for name, field in fields if any(isinstance(mark, EachAlone) for mark in field.metadata))
    return frozenset(field.alias or name for name, field in marked)


def unknown(name: str) -> str:
    """Say of a field that it is none here; of `asOf` also where it is one, since some reads have it."""
    return _PAST if name == "asOf" else _UNKNOWN


def _field(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location)[:_MAX_FIELD_LENGTH] or "body"


def _message(item: Mapping[str, Any]) -> str:
    message: str = item["msg"]
    if item["type"] == "extra_forbidden":
        return unknown(str(item["loc"][-1]))
    known = _MESSAGES.get(item["type"]) or _PATTERNS.get(message)
    return known or _MEMBER.sub(r"\1", message.removeprefix("Value error, "))
