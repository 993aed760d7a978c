"""How an operation's arguments spread over path, query, headers and body; one description for parsing and OpenAPI."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import parse_qsl

import pydantic_core
from fastapi import Body, File, Form, Header, Path, Query, UploadFile
from pydantic import BaseModel, create_model
from pydantic.fields import FieldInfo

from app.edge.asgi import header, read_body
from app.edge.rest.multipart import FRAME_BYTES, read_form
from app.kit.errors import InvalidRequest, UnsupportedMediaType
from app.kit.schema import FromFile, FromHeader, Model

if TYPE_CHECKING:
    from app.edge.asgi import Receive, Scope

_PATH_PARAMETER = re.compile(r"{(\w+)}")
BODY_METHODS = frozenset({"POST", "PUT", "PATCH"})
IGNORED_FIELDS = frozenset({"engine", "workspace"})
"""Fields of older clients; accepted and ignored (contract: "Wire")."""


def _alias(name: str, field: FieldInfo) -> str:
    return field.alias or name


def _is_file(field: FieldInfo) -> bool:
    return any(isinstance(mark, FromFile) for mark in field.metadata)


def _header_name(field: FieldInfo) -> str | None:
    return next((mark.name for mark in field.metadata if isinstance(mark, FromHeader)), None)


@dataclass(frozen=True)
class Binding:
    """Where each argument of an operation comes from on one route."""

    model: type[Model]
    path: str
    method: str

    @cached_property
    def path_names(self) -> frozenset[str]:
        """Aliases that stand in the path."""
        return frozenset(_PATH_PARAMETER.findall(self.path))

    @cached_property
    def headers(self) -> dict[bytes, str]:
        """Lower-case header name → alias."""
        found = {name: _header_name(field) for name, field in self.model.model_fields.items()}
        return {
            header_name.lower().encode(): _alias(name, self.model.model_fields[name])
            for name, header_name in found.items()
            if header_name
        }

    @cached_property
    def rest(self) -> dict[str, FieldInfo]:
        """Fields of the body or of the query, by name."""
        taken = self.path_names | set(self.headers.values())
        return {name: field for name, field in self.model.model_fields.items() if _alias(name, field) not in taken}

    @cached_property
    def _inner_names(self) -> set[str]:
        """Names that only this program uses: on the wire a field has its alias."""
        return {name for name, field in self.model.model_fields.items() if _alias(name, field) != name}

    @property
    def has_body(self) -> bool:
        """Whether the remaining fields travel in a JSON body."""
        return self.method in BODY_METHODS and bool(self.rest)

    @cached_property
    def file(self) -> str | None:
        """The alias of the field that is a file, where there is one: the arguments travel in a form then."""
        fields = self.model.model_fields.items()
        marked = (_alias(name, field) for name, field in fields if _is_file(field))
        return next(marked, None)

    async def read(self, scope: Scope, receive: Receive, limit: int) -> dict[str, Any]:
        """Collect the raw arguments of a request.

        Raises:
            InvalidRequest: the body is not a JSON object, or a parameter is repeated.
            UnsupportedMediaType, PayloadTooLarge.
        """
        raw: dict[str, Any]
        if self.method in BODY_METHODS:
            if self.file is None:
                raw = _decode(scope, await read_body(scope, receive, limit))
            else:
                body = await read_body(scope, receive, limit, frame=FRAME_BYTES)
                raw = read_form(header(scope, b"content-type") or "", body, self.file, limit)
            if scope["query_string"]:
                _refuse_query(scope["query_string"])
        else:
            raw = _query(scope["query_string"])
        misplaced = raw.keys() & (self.path_names | set(self.headers.values()) | self._inner_names)
        if misplaced:
            raise _unknown(sorted(misplaced))
        for field in IGNORED_FIELDS:
            if field in raw and field not in self.model.model_fields:
                del raw[field]
        raw.update(scope["path_params"])
        for name, alias in self.headers.items():
            if (value := header(scope, name)) is not None:
                raw[alias] = value
        return raw

    def signature(self) -> inspect.Signature:
        """Describe the parameters in FastAPI's terms, from which it writes OpenAPI."""
        parameters = [self._parameter(name, field) for name, field in self.model.model_fields.items()]
        found = [parameter for parameter in parameters if parameter is not None]
        if self.has_body and self.file is None:
            found.append(_keyword("body", Annotated[self._body_model(), Body()], ...))
        return inspect.Signature(found)

    def _parameter(self, name: str, field: FieldInfo) -> inspect.Parameter | None:
        alias = _alias(name, field)
        metadata = [mark for mark in field.metadata if not isinstance(mark, FromHeader)]
        annotated = field.annotation
        for mark in metadata:
            annotated = Annotated[annotated, mark]  # type: ignore[assignment]
        common: dict[str, Any] = {"alias": alias, "description": field.description}
        if alias in self.path_names:
            return _keyword(name, Annotated[annotated, Path(**common)], ...)
        if (header_name := _header_name(field)) is not None:
            return _keyword(name, Annotated[str | None, Header(alias=header_name, description=field.description)], None)
        default = ... if field.is_required() else field.get_default(call_default_factory=True, validated_data={})
        if self.file is not None:
            if _is_file(field):
                return _keyword(name, Annotated[UploadFile, File(**common)], ...)
            return _keyword(name, Annotated[annotated, Form(**common)], default)
        if self.method in BODY_METHODS:
            return None
        return _keyword(name, Annotated[annotated, Query(**common)], default)

    def _body_model(self) -> type[BaseModel]:
        fields: dict[str, Any] = {
            name: (Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation, field)
            for name, field in self.rest.items()
        }
        return create_model(f"{self.model.__name__}Body", __base__=Model, __doc__=inspect.getdoc(self.model), **fields)


def _keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    given = inspect.Parameter.empty if default is ... else default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=given)


def _decode(scope: Scope, body: bytes) -> dict[str, Any]:
    if not body:
        return {}
    media_type = (header(scope, b"content-type") or "application/json").split(";")[0].strip().lower()
    if media_type != "application/json" and not media_type.endswith("+json"):
        msg = f"Send JSON with `Content-Type: application/json`, not {media_type!r}."
        raise UnsupportedMediaType(msg)
    try:
        value = pydantic_core.from_json(body, allow_inf_nan=False)
    except ValueError as error:
        msg = f"The body is not valid JSON: {str(error)[:200]}"
        raise InvalidRequest(msg) from error
    if not isinstance(value, dict):
        msg = "The body must be a JSON object."
        raise InvalidRequest(msg)
    return value


def _query(query: bytes) -> dict[str, Any]:
    if not query:
        return {}
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    raw = dict(pairs)
    if len(raw) != len(pairs):
        msg = "A query parameter is repeated; send each once (several tags as a comma list)."
        raise InvalidRequest(msg)
    return raw


def _refuse_query(query: bytes) -> None:
    names = sorted(_query(query).keys() - IGNORED_FIELDS)
    if names:
        raise _unknown(names)


def _unknown(names: list[str]) -> InvalidRequest:
    return InvalidRequest(
        f"Unknown field {names[0]}; remove it.", details=[{"field": name, "message": "unknown"} for name in names]
    )
