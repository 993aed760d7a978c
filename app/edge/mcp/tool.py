"""A tool as data: the MCP face of an operation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import mcp_types as types

from app.edge.mcp.schema import OUTPUT_SCHEMA, input_schema
from app.edge.rest.binding import IGNORED_FIELDS
from app.gate.arguments import parse_args, unknown
from app.kit.errors import InvalidRequest
from app.kit.schema import unstorable

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.gate.operation import Operation
    from app.kit.schema import Model

KEY = "idempotencyKey"

# Names of earlier releases; taken in `tools/call` when their target exists, never listed.
OLD_NAMES = {
    "list_prompts": "search_prompts",
    "get_prompt": "read_prompt",
    "search_context_repo": "find_items",
    "pd_search": "deep_search",
    "pd_read": "deep_read",
    "pd_expand": "deep_expand",
}


@dataclass(frozen=True, slots=True)
class Hints:
    """What a client may assume of a tool before it asks its user; all four are always sent."""

    read_only: bool
    destructive: bool
    idempotent: bool
    open_world: bool = False


READS = Hints(read_only=True, destructive=False, idempotent=True)
CREATES = Hints(read_only=False, destructive=False, idempotent=False)
UPDATES = Hints(read_only=False, destructive=True, idempotent=True)
REPLACES = Hints(read_only=False, destructive=True, idempotent=False)
DELETES = Hints(read_only=False, destructive=True, idempotent=True)
CHANGES = Hints(read_only=False, destructive=True, idempotent=True)
ADDS = Hints(read_only=False, destructive=False, idempotent=True)


@dataclass(frozen=True)
class Tool:
    """One tool; `number` is its place in every list (contract: section 1.3).

    `text` renders the Markdown from result and arguments. `narrowed` is a stricter model of the arguments.
    `structured` shapes `structuredContent` from the arguments as sent, where it is not the REST body. `when_absent`
    turns a missing object into success with this text (and needs `structured`). A `wide` tool stands on the surface of
    every tool only, in place of another of its name. A `keyed` one takes `idempotencyKey` as an argument.
    """

    number: int
    name: str
    title: str
    description: str
    operation: Operation[Any, Any]
    hints: Hints
    text: Callable[[Any, Any], str]
    narrowed: type[Model] | None = None
    structured: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    when_absent: Callable[[dict[str, Any]], str] | None = None
    wide: bool = False
    keyed: bool = False

    def __post_init__(self) -> None:
        if self.narrowed is not None and not issubclass(self.narrowed, self.operation.args):
            msg = f"tool {self.name}: {self.narrowed.__name__} must be a subclass of {self.operation.args.__name__}"
            raise TypeError(msg)
        if self.when_absent is not None and self.structured is None:
            msg = f"tool {self.name}: when_absent needs structured, since there is no REST body"
            raise TypeError(msg)

    @cached_property
    def args(self) -> type[Model]:
        """The model that arguments are validated with."""
        return self.narrowed or self.operation.args

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """The schema of the arguments."""
        schema = input_schema(self.args)
        if self.keyed:
            schema["properties"][KEY] = {"type": "string", "description": "Yours, unique: makes a retry safe for 24 h."}
        if self.keyed and self.operation.needs_key:
            schema["required"] = [*schema.get("required", ()), KEY]
        return schema

    def key(self, arguments: dict[str, Any]) -> str | None:
        """Give the idempotency key among the arguments.

        Raises:
            InvalidRequest: it is no text that could be one.
        """
        value = arguments.get(KEY) if self.keyed else None
        if value is None or (isinstance(value, str) and unstorable(value) is None):
            return value
        msg = f"{KEY} must be a text without control characters."
        raise InvalidRequest(msg, details=[{"field": KEY, "message": msg}])

    @cached_property
    def wire(self) -> types.Tool:
        """The tool as `tools/list` shows it."""
        hints = self.hints
        return types.Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=self.input_schema,
            output_schema=OUTPUT_SCHEMA,
            annotations=types.ToolAnnotations(
                read_only_hint=hints.read_only,
                destructive_hint=hints.destructive,
                idempotent_hint=hints.idempotent,
                open_world_hint=hints.open_world,
            ),
        )

    def parse(self, arguments: dict[str, Any]) -> Model:
        """Validate the arguments as sent; only what the schema names is an argument.

        Raises:
            InvalidRequest: unknown, missing or wrong arguments, each named.
        """
        known = self.input_schema["properties"]
        sent = {name: value for name, value in arguments.items() if name in known or name not in IGNORED_FIELDS}
        if foreign := sorted(sent.keys() - known.keys()):
            names = ", ".join(known) or "none"
            raise InvalidRequest(
                f"{foreign[0][:100]}: {unknown(foreign[0])}. {self.name} takes: {names}.",
                details=[{"field": name[:100], "message": unknown(name)} for name in foreign[:20]],
            )
        if self.keyed:
            sent.pop(KEY, None)
        return parse_args(self.args, sent)
