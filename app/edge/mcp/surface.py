"""A surface as data: a path with its tools and its rule of who may ask what."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from app.edge.mcp.texts import INSTRUCTIONS
from app.edge.mcp.tool import OLD_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.edge.mcp.prompt import PromptSource
    from app.edge.mcp.resource import Resource, ResourceTemplate
    from app.edge.mcp.tool import Tool
    from app.gate.operation import Operation

PUBLIC = frozenset(
    {
        "initialize",
        "notifications/initialized",
        "ping",
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "server/discover",
        "subscriptions/listen",
    }
)
"""The contract's six, and of 2026-07-28 the twin of `initialize` and the listening that comes to nothing."""

_PROTECTED = frozenset({"tools/call", "prompts/list", "prompts/get"})


@dataclass(frozen=True)
class Surface:
    """An MCP endpoint; without public methods every request needs a credential.

    Each surface is its own OAuth resource with its own metadata document, but for one that is `open`: it is for
    everybody, pages of every origin included, and looks at no credential.
    """

    path: str
    tools: tuple[Tool, ...]
    public: frozenset[str] = frozenset()
    resources: tuple[Resource, ...] = field(default=())
    templates: tuple[ResourceTemplate, ...] = field(default=())
    prompts: PromptSource | None = None
    instructions: str = INSTRUCTIONS
    open: bool = False

    @property
    def authenticated(self) -> bool:
        """Whether every request needs a credential."""
        return not self.public and not self.open

    @cached_property
    def by_name(self) -> dict[str, Tool]:
        """Tools by name, the old names included."""
        found = {tool.name: tool for tool in self.tools}
        return found | {old: found[new] for old, new in OLD_NAMES.items() if new in found and old not in found}

    @cached_property
    def listed(self) -> tuple[Resource | ResourceTemplate, ...]:
        """What stands at a fixed address: the public documents, and what each caller has one of."""
        return (*self.resources, *(item for item in self.templates if item.parameter is None))

    def operation(self, method: str, name: str | None, uri: str | None) -> Operation[Any, Any] | None:
        """Give the operation that a message leads to: a tool's, or the one that reads stored prompts or a resource."""
        if method == "tools/call":
            tool = self.by_name.get(name or "")
            return tool.operation if tool else None
        if method == "resources/read":
            return next((found.operation for found in self.templates if found.match(uri or "") is not None), None)
        if self.prompts is not None and method in ("prompts/list", "prompts/get"):
            return self.prompts.listing if method == "prompts/list" else self.prompts.reading
        return None

    def needs_credential(self, method: str, uri: str | None) -> bool:
        """Tell whether a method may not be called anonymously; unknown methods go on, to be answered as unknown."""
        if self.open:
            return False
        if self.authenticated or method in _PROTECTED:
            return True
        return method == "resources/read" and self._is_private(uri or "")

    def _is_private(self, uri: str) -> bool:
        """Tell whether a resource belongs to somebody: our own schemes, but for the public documents."""
        if any(resource.uri == uri for resource in self.resources):
            return False
        scheme = uri.partition(":")[0]
        return any(template.uri.startswith(f"{scheme}:") for template in self.templates)


def in_order(tools: Iterable[Tool]) -> tuple[Tool, ...]:
    """Sort tools by their number; two with one number or name are a fault of the program."""
    ordered = tuple(sorted(tools, key=lambda tool: tool.number))
    if len({tool.number for tool in ordered}) < len(ordered) or len({tool.name for tool in ordered}) < len(ordered):
        msg = "two tools share a number or a name"
        raise ValueError(msg)
    return ordered


def narrow(tools: Iterable[Tool]) -> tuple[Tool, ...]:
    """Give the tools of the contract's surfaces, in order."""
    return in_order(tool for tool in tools if not tool.wide)


def every(tools: Iterable[Tool]) -> tuple[Tool, ...]:
    """Give every tool once, in order; those that write take an idempotency key."""
    found: dict[str, Tool] = {}
    for tool in sorted(tools, key=lambda tool: tool.wide):
        found[tool.name] = tool
    return in_order(replace(tool, keyed=tool.operation.kind != "query") for tool in found.values())
