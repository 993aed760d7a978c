"""Rules of prompts: variables of a text, what a revision's hash covers, and filling in values."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from app.features.documents.schemas import Notice
from app.features.prompts import queries
from app.features.prompts.errors import LabelNotFound, PromptNotFound, PromptRevisionNotFound
from app.features.prompts.schemas import MAX_VARIABLES, NAME, Variable, VariableType, canonical
from app.kit.errors import InvalidRequest
from app.kit.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    import asyncpg

    from app.features.prompts.schemas import CreatePrompt, PatchPrompt
    from app.store.postgres import Database
    from app.store.tx import Tx

_PLACE = re.compile(rf"\$\{{({NAME})\}}")
_SHOWN = 20
_UNSHOWN = ("variables", "names", "parameters", "views", "copies")
MAX_FILLED = 10 * 1024 * 1024
"""Characters of a text with its values: a value may stand in many places."""

_JSON_TYPES: dict[VariableType, tuple[type, ...]] = {
    VariableType.NUMBER: (int, float),
    VariableType.INTEGER: (int,),
    VariableType.BOOLEAN: (bool,),
    VariableType.ARRAY: (list,),
    VariableType.OBJECT: (dict,),
}


@dataclass(frozen=True, slots=True)
class State:
    """The logical prompt: a change of any part is a new revision. `variables` is None while the text names them."""

    title: str
    description: str
    content: str
    tags: list[str] = field(default_factory=list)
    variables: list[Variable] | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    archived: bool = False

    @classmethod
    def of(cls, args: CreatePrompt) -> State:
        """Take what a new prompt is made of."""
        return cls(args.title, args.description, args.content, args.tags, args.variables, args.parameters)

    @classmethod
    def stored(cls, row: asyncpg.Record) -> State:
        """Read the state of a row."""
        return cls(
            title=row["title"],
            description=row["description"],
            content=row["content"],
            tags=row["tags"],
            variables=declared(row["variables"]),
            parameters=json.loads(row["parameters"]),
            archived=row["is_archived"],
        )

    def patched(self, args: PatchPrompt) -> State:
        """Apply a change; what it leaves out stays."""
        names = ("title", "description", "content", "tags", "variables", "parameters")
        sent = {name: value for name in names if (value := getattr(args, name)) is not None}
        if args.is_archived is not None:
            sent["archived"] = args.is_archived
        return replace(self, **sent)

    @property
    def variables_json(self) -> str | None:
        """The declared variables as they are stored."""
        found = self._variables()
        return None if found is None else canonical(found)

    def digest(self) -> bytes:
        """SHA-256 over the digests of title, description, content, tags (joined by U+001F) and all else as JSON."""
        rest = {"isArchived": self.archived, "parameters": self.parameters, "variables": self._variables()}
        parts = (self.title, self.description, self.content, "\x1f".join(self.tags), canonical(rest))
        return hashlib.sha256(b"".join(hashlib.sha256(part.encode()).digest() for part in parts)).digest()

    def _variables(self) -> list[dict[str, Any]] | None:
        if self.variables is None:
            return None
        return [variable.model_dump(mode="json", by_alias=True) for variable in self.variables]


@dataclass(frozen=True, slots=True)
class Version:
    """A text as the next version of a prompt."""

    number: int
    revision: int
    content: str
    change_log: str | None = None
    id: UUID = field(default_factory=new_id)

    @property
    def names(self) -> list[str]:
        """The variables that the text names, kept so that lists need not read it."""
        return names_in(self.content)


async def read_prompt(tx: Tx, prompt_id: UUID, label: str | None = None, reader: UUID | None = None) -> dict[str, Any]:
    """Read a prompt as its fields are named; `trust` is what the reader is told.

    Raises:
        PromptNotFound, LabelNotFound.
    """
    row = await queries.get_prompt(tx, prompt_id, label, reader)
    if row is None:
        if label is not None and await queries.prompt_exists(tx, prompt_id):
            raise LabelNotFound
        raise PromptNotFound
    return _whole(row) | {"label": label}


async def read_as_of(tx: Tx, prompt_id: UUID, at: int | datetime, reader: UUID) -> dict[str, Any]:
    """Read a prompt as it was at a revision or time, as its fields are named.

    Raises:
        PromptNotFound, PromptRevisionNotFound.
    """
    row = await queries.read_as_of(tx, prompt_id, at, reader)
    if row is None:
        raise PromptRevisionNotFound if await queries.prompt_exists(tx, prompt_id) else PromptNotFound
    return _whole(row)


async def set_published(tx: Tx, prompt_id: UUID, *, published: bool) -> int | None:
    """Note whether a prompt has a live public link: `isPublic` of a new revision, which this gives if there is one."""
    return await queries.set_published(tx, prompt_id, published=published)


async def count_reads(database: Database, column: str, reads: Sequence[tuple[UUID, UUID, int]]) -> None:
    """Add to `stats`: how often (`views` or `copies`) prompts, by workspace and id, were read by public links."""
    if reads:
        await queries.count_reads(database, column, reads)


def fields(row: asyncpg.Record) -> dict[str, Any]:
    """Name the fields of a prompt of a list."""
    found = {name: value for name, value in row.items() if name not in _UNSHOWN}
    stats = {"views": row["views"], "copies": row["copies"]}
    return found | {"variables": variables_of(row["variables"], row["names"]), "stats": stats}


def version_fields(row: Mapping[str, Any]) -> dict[str, Any]:
    """Name the fields of a version: its text, and what its revision said beside it."""
    kept = row["title"] is not None
    said = variables_of(row["variables"], row["names"]) if kept else None
    return {name: value for name, value in row.items() if name != "names"} | {"variables": said}


def _whole(row: asyncpg.Record) -> dict[str, Any]:
    warnings = drift(row["variables"], row["names"])
    return fields(row) | {"parameters": from_json(row["parameters"]), "warnings": warnings}


def declared(stored: str | None) -> list[Variable] | None:
    """Read declared variables; None: those of the text count."""
    return None if stored is None else [Variable.model_validate(item) for item in json.loads(stored)]


def names_in(content: str) -> list[str]:
    """Name the variables of a text in order of appearance, each once; one more than can be declared at most."""
    found: dict[str, None] = {}
    for place in _PLACE.finditer(content):
        found[place[1]] = None
        if len(found) > MAX_VARIABLES:
            break
    return list(found)


def variables_of(stored: str | None, names: Sequence[str]) -> list[Variable]:
    """Give the variables of a prompt: the declared ones, else those that its text names."""
    found = declared(stored)
    return [Variable(name=name) for name in names[:MAX_VARIABLES]] if found is None else found


def drift(stored: str | None, names: Sequence[str]) -> list[Notice]:
    """Warn where the declared variables and those of the text differ."""
    if stored is None:
        return [_too_many()] if len(names) > MAX_VARIABLES else []
    known = {variable.name for variable in declared(stored) or ()}
    found: list[Notice] = []
    if undeclared := [name for name in names if name not in known]:
        found.append(_notice("VARIABLE_UNDECLARED", "The text names variables that are not declared", undeclared))
    if len(names) <= MAX_VARIABLES and (unused := sorted(known.difference(names))):
        found.append(_notice("VARIABLE_UNUSED", "Variables are declared that the text does not name", unused))
    return found


def render(content: str, variables: Iterable[Variable], arguments: Mapping[str, str]) -> str:
    """Put values in the place of declared variables; every other byte stays, and a value is never read again.

    Raises:
        InvalidRequest: a value is not of its variable's type, or the text would become larger than `MAX_FILLED`.
    """
    values: dict[str, str] = {}
    for variable in variables:
        if (value := arguments.get(variable.name)) is not None:
            _check(variable, value)
            values[variable.name] = value
    growth = sum(len(values[place[1]]) - len(place[0]) for place in _PLACE.finditer(content) if place[1] in values)
    if growth > 0 and len(content) + growth > MAX_FILLED:
        msg = f"With these values the text would be longer than {MAX_FILLED} characters; send shorter ones."
        raise InvalidRequest(msg)
    return _PLACE.sub(lambda place: values.get(place[1], place[0]), content)


def _check(variable: Variable, value: str) -> None:
    if variable.type is VariableType.STRING:
        return
    try:
        parsed = from_json(value, allow_inf_nan=False)
    except ValueError:
        parsed = None
    wanted = _JSON_TYPES[variable.type]
    if not isinstance(parsed, wanted) or (isinstance(parsed, bool) and bool not in wanted):
        msg = f"must be JSON of the type {variable.type}"
        raise InvalidRequest(f"{variable.name}: {msg}", details=[{"field": variable.name, "message": msg}])


def _too_many() -> Notice:
    message = f"The text names more variables than can be declared; the first {MAX_VARIABLES} count."
    return Notice(code="VARIABLES_CUT", message=message, fields=[])


def _notice(code: str, words: str, names: Sequence[str]) -> Notice:
    shown = ", ".join(names[:_SHOWN]) + (" …" if len(names) > _SHOWN else "")
    return Notice(code=code, message=f"{words}: {shown}.", fields=list(names))
