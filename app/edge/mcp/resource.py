"""Resources as data: fixed public documents, and templates that read through an operation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.gate.operation import Operation

_PARAMETER = "{id}"


@dataclass(frozen=True, slots=True)
class Resource:
    """A document of the service itself, the same for everybody; readable without a credential."""

    uri: str
    name: str
    title: str
    description: str
    mime_type: str
    read: Callable[[], str]


@dataclass(frozen=True, slots=True)
class ResourceTemplate:
    """Stored objects by id: `uri` ends in `{id}`, which becomes the operation's argument `parameter`.

    Without a `parameter` it is one resource at a fixed address, the caller's own.
    """

    uri: str
    name: str
    title: str
    description: str
    operation: Operation[Any, Any]
    parameter: str | None
    text: Callable[[Any, Any], str]
    mime_type: str = "text/markdown"

    def match(self, uri: str) -> dict[str, Any] | None:
        """Give the operation's arguments when the address is one of this template."""
        if self.parameter is None:
            return {} if uri == self.uri else None
        prefix = self.uri.removesuffix(_PARAMETER)
        rest = uri.removeprefix(prefix)
        if rest == uri or not rest or "/" in rest:
            return None
        return {self.parameter: unquote(rest)}
