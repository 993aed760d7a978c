"""Arguments and results of prompts (contract: operations 1 to 7; labels are ours)."""

from __future__ import annotations

import json
import re
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Self
from uuid import UUID

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from app.features.documents.schemas import ChangeLog, Notice, Title
from app.kit import revision as revisions
from app.kit.asof import TIME, AsOf
from app.kit.guarded import Guarded
from app.kit.ids import Id
from app.kit.paging import DEFAULT_LIMIT, MAX_LIMIT, Sorted
from app.kit.schema import EpochMs, Model, Positive, RestOnly, TagFilter, Tags, absent, as_list, field_error, not_null
from app.kit.trust import Shown

MAX_DESCRIPTION = 2_000
MAX_VARIABLE_DESCRIPTION = 500
MAX_LABELS = 100
MAX_VARIABLES = 100
MAX_NAME = 64
MAX_PARAMETERS = 16 * 1024

NAME = rf"[A-Za-z_][A-Za-z0-9_]{{0,{MAX_NAME - 1}}}"
"""A variable's name; in a text it stands as `${name}`."""

_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_LIKE_A_VERSION = re.compile(r"(v|ver|version)?[-._]?[0-9][0-9.]*|latest|current", re.IGNORECASE)

PromptId = Annotated[Id, Field(description="The prompt's id.")]
Description = Annotated[str, Field(max_length=MAX_DESCRIPTION)]


class VariableType(StrEnum):
    """What a value must be, written as JSON; a string is taken as it is."""

    STRING = "string"
    NUMBER = "number"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    ARRAY = "array"
    OBJECT = "object"


class Variable(Model):
    """A `${name}` that a caller may fill in."""

    name: Annotated[str, Field(pattern=rf"^{NAME}$", description="Letters, digits and underscores.")]
    type: Annotated[VariableType, Field(default=VariableType.STRING, description="What its value must be.")]
    description: Annotated[str | None, Field(default=None, max_length=MAX_VARIABLE_DESCRIPTION, exclude_if=absent)]


def _each_once(variables: list[Variable]) -> list[Variable]:
    names = [variable.name for variable in variables]
    if len(set(names)) < len(names):
        msg = "two variables have one name"
        raise ValueError(msg)
    return variables


Variables = Annotated[
    list[Variable], BeforeValidator(as_list), AfterValidator(_each_once), Field(max_length=MAX_VARIABLES)
]


def canonical(value: Any) -> str:
    """Write JSON in one form: sorted keys, no blanks, finite numbers."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _small(value: dict[str, Any]) -> dict[str, Any]:
    if len(canonical(value)) > MAX_PARAMETERS:
        msg = f"must be at most {MAX_PARAMETERS} characters of JSON"
        raise ValueError(msg)
    return value


Parameters = Annotated[
    dict[str, Any], RestOnly(), AfterValidator(_small), Field(description="Free settings, kept with the prompt.")
]


def _not_published(value: object) -> object:
    if value:
        msg = "is read-only: a person publishes a prompt from the dashboard"
        raise ValueError(msg)
    return value


class CreatePrompt(Model):
    """A new prompt."""

    title: Annotated[Title, Field(description="A title people will recognise.")]
    description: Annotated[Description, Field(description="What the prompt is for.")]
    content: Annotated[str, Field(description="The text; `${name}` marks a variable.")]
    variables: Annotated[
        Variables | None,
        Field(default=None, description="Variables as {name, type, description}; left out: those of the text."),
    ]
    parameters: Annotated[Parameters, Field(default_factory=dict)]
    tags: Annotated[Tags, Field(default_factory=list, description="Labels to filter by.")]
    collection_id: Annotated[Id | None, Field(default=None, description="A collection to put it into.")]
    is_public: Annotated[
        bool | None,
        RestOnly(),
        AfterValidator(_not_published),
        Field(default=None, description="Read-only; only what is so may be sent."),
    ]

    _keep = field_validator("variables", mode="before")(not_null)


class GetPrompt(Model):
    """Which prompt, and whose version of it."""

    prompt_id: PromptId
    label: Annotated[
        str | None,
        Field(default=None, max_length=MAX_NAME, description="The version with this label, not the current one."),
    ]
    as_of: Annotated[AsOf | None, Field(default=None, description=f"A revision or {TIME}: the prompt as it was then.")]

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if self.label is not None and self.as_of is not None:
            raise field_error("asOf", "send label or asOf, not both: a label points at a version of now")
        return self


class ListPrompts(Sorted):
    """Which prompts to list."""

    q: Annotated[
        str | None,
        Field(default=None, max_length=500, description="Only those whose title, description or text holds this."),
    ]
    limit: Annotated[Positive, Field(default=DEFAULT_LIMIT, description="Page size, 20 unless given, at most 100.")]
    tags: Annotated[TagFilter, Field(default_factory=list)]
    cursor: Annotated[str | None, Field(default=None, description="`pagination.cursor` of the page before.")]
    collection_id: Annotated[Id | None, RestOnly(), Field(default=None, description="Only members of this collection.")]
    include_public: Annotated[
        bool, RestOnly(), Field(default=False, description="Accepted; prompts of other workspaces are never listed.")
    ]
    include_archived: Annotated[bool, RestOnly(), Field(default=False, description="Archived prompts too.")]


class PatchPrompt(Guarded):
    """Changes to a prompt; what is left out stays."""

    prompt_id: PromptId
    title: Annotated[Title | None, Field(default=None, description="A new title.")]
    description: Annotated[Description | None, Field(default=None, description="A new description.")]
    content: Annotated[str | None, Field(default=None, description="The whole new text; makes a version.")]
    variables: Annotated[
        Variables | None, Field(default=None, description="The whole new list of {name, type, description}.")
    ]
    parameters: Annotated[Parameters | None, RestOnly(), Field(default=None, description="All parameters anew.")]
    tags: Annotated[Tags | None, Field(default=None, description="The whole new list; [] removes all tags.")]
    is_archived: Annotated[
        bool | None, RestOnly(), Field(default=None, description="Archived prompts are left out of lists.")
    ]
    is_public: Annotated[
        bool | None, RestOnly(), Field(default=None, description="Read-only; only what is so may be sent.")
    ]
    change_log: Annotated[ChangeLog, Field(default=None)]

    _keep = field_validator(
        "title", "description", "content", "variables", "parameters", "tags", "is_archived", mode="before"
    )(not_null)


class DeletePrompt(Guarded):
    """Which prompt to move to the trash."""

    prompt_id: PromptId


class ListPromptVersions(Model):
    """Whose versions."""

    prompt_id: PromptId
    limit: Annotated[Positive, Field(default=MAX_LIMIT, description="Page size, 100 at most.")]
    cursor: Annotated[str | None, Field(default=None, description="`pagination.cursor` of the page before.")]


class RestorePromptVersion(Guarded):
    """Which version to make current again."""

    prompt_id: PromptId
    version_id: Annotated[UUID, Field(description="The id of the version, from the list of versions.")]
    change_log: Annotated[ChangeLog, Field(default=None)]


class ListLabels(Model):
    """Whose labels."""

    prompt_id: PromptId


def _a_label(value: str) -> str:
    """Refuse what is no label, or would be mistaken for a version."""
    if _LABEL.fullmatch(value) is None or _LIKE_A_VERSION.fullmatch(value):
        msg = "must be letters, digits, `.`, `_` or `-`, and not look like a version (`v2`, `2`, `latest`)"
        raise ValueError(msg)
    return value


Label = Annotated[str, Field(min_length=1, max_length=MAX_NAME, description="Such as `production`.")]


class SetLabel(Guarded):
    """Which label is to point where."""

    prompt_id: PromptId
    label: Annotated[Label, AfterValidator(_a_label)]
    version_id: Annotated[UUID, Field(description="The id of the version, from the list of versions.")]


class RemoveLabel(Guarded):
    """Which label to take away."""

    prompt_id: PromptId
    label: Label


class PromptStats(Model):
    """How often a prompt was read by its public links; known to about ten seconds, no part of a revision."""

    views: Annotated[int, Field(description="How often a page was opened.")]
    copies: Annotated[int, Field(description="How often the Markdown was taken.")]


class PromptItem(Shown):
    """A prompt in a list: without its text."""

    id: UUID
    title: str
    description: str
    is_public: bool
    is_archived: bool
    tags: list[str]
    variables: list[Variable]
    current_version: int
    revision: int
    content_hash: Annotated[str, Field(description="Of the whole current state, the text included.")]
    created_at: EpochMs
    last_changed_at: EpochMs
    updated_at: EpochMs
    stats: PromptStats

    @model_validator(mode="before")
    @classmethod
    def _by_both_names(cls, value: Any) -> Any:
        """Give `updatedAt`, by which some clients know `lastChangedAt`."""
        if not isinstance(value, dict) or value.keys() & {"updated_at", "updatedAt"}:
            return value
        return value | {"updated_at": value.get("last_changed_at", value.get("lastChangedAt"))}


class Prompt(PromptItem):
    """A prompt with its text: that of the current version, or of the one that `label` or `asOf` chose."""

    content: str
    parameters: dict[str, Any]
    version: Annotated[int, Field(description="The version whose text this is.")]
    version_id: UUID
    label: Annotated[str | None, Field(default=None, exclude_if=absent)]
    warnings: Annotated[list[Notice], Field(default_factory=list, exclude_if=lambda value: not value)]

    @property
    def etag(self) -> str | None:
        """The strong entity tag of this revision; none where a label, which moves by itself, chose the text."""
        return None if self.label is not None else revisions.etag(self.revision, self.content_hash)


class ChangedPrompt(Prompt):
    """A prompt after a change."""

    noop: Annotated[bool, Field(description="Whether nothing had to be changed.")]


class PromptAck(Model):
    """The compact acknowledgement of a restore."""

    id: UUID
    title: str
    current_version: int
    revision: int
    content_hash: str
    last_changed_at: EpochMs
    noop: bool
    warnings: Annotated[list[Notice], Field(default_factory=list, exclude_if=lambda value: not value)]

    @property
    def etag(self) -> str:
        """The strong entity tag of the current revision."""
        return revisions.etag(self.revision, self.content_hash)


class PromptVersion(Shown):
    """A version: a text that was current once."""

    id: UUID
    version: int
    revision: int
    title: Annotated[
        str | None, Field(description="null, like description, tags and variables, where it was not kept.")
    ]
    description: str | None
    content: str
    tags: list[str] | None
    variables: list[Variable] | None
    labels: list[str]
    user_name: str
    change_log: str | None
    created_at: EpochMs


class PromptLabel(Model):
    """A label and the version that it points at."""

    label: str
    version: int
    version_id: UUID
    user_name: Annotated[str, Field(description="Who moved it there.")]
    moved_at: datetime
