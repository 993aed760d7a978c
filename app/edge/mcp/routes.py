"""The surfaces of this service and their routes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from starlette.routing import Route

from app.edge.discovery import protected_resource
from app.edge.mcp.catalog import capabilities, public_resources
from app.edge.mcp.endpoint import Endpoint
from app.edge.mcp.guard import Guard
from app.edge.mcp.origin import Origins
from app.edge.mcp.surface import PUBLIC, Surface, every, narrow
from app.edge.mcp.texts import INSTRUCTIONS_OF_ALL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from app.edge.mcp.prompt import PromptSource
    from app.edge.mcp.resource import ResourceTemplate
    from app.edge.mcp.tool import Tool
    from app.edge.rest.router import OperationRoute
    from app.gate.capabilities import Capabilities
    from app.gate.policy import Plans
    from app.settings import Settings

MAIN = "/mcp"
REST = "/v1"
EVERYTHING = "/mcp/all"
_PATHS = {MAIN: PUBLIC, "/grok-mcp": frozenset[str](), EVERYTHING: frozenset[str]()}
RESOURCES = (*_PATHS, REST)
"""The paths of everything that a token can be for; the first is meant when a client names none."""


def surfaces(
    settings: Settings,
    routes: Sequence[OperationRoute],
    tools: Iterable[Tool],
    templates: Iterable[ResourceTemplate],
    prompts: PromptSource | None,
    plans: Plans,
) -> tuple[list[Surface], Capabilities]:
    """Build the surfaces and the description of them.

    One has public discovery and one is wholly authenticated, both with the contract's tools; one has every tool.
    """
    known, kept = tuple(tools), tuple(templates)
    ordered = narrow(known)
    resources = public_resources(settings, routes, lambda: described)
    described = capabilities(settings, ordered, resources, kept, list(_PATHS), plans)
    found = [Surface(path, ordered, public, resources, kept, prompts) for path, public in _PATHS.items()]
    found = [
        replace(item, tools=every(known), instructions=INSTRUCTIONS_OF_ALL) if item.path == EVERYTHING else item
        for item in found
    ]
    return found, described


def endpoints(settings: Settings, found: Iterable[Surface]) -> list[Endpoint]:
    """Make the surfaces' endpoints; each runs while its `running` is open."""
    return [Endpoint(surface, settings.max_body_bytes) for surface in found]


def mcp_routes(settings: Settings, running: Sequence[Endpoint]) -> list[Route]:
    """Route each surface with and without a trailing slash, and its metadata document; never a mount or redirect."""
    origins = Origins(settings.url)
    found: list[Route] = []
    for endpoint in running:
        path = endpoint.surface.path
        guard = Guard(
            endpoint.surface,
            endpoint,
            origins=origins,
            resource=protected_resource.protected_resource(settings, path),
            body_limit=settings.max_body_bytes,
        )
        found += [Route(path, guard), Route(f"{path}/", guard)]
    paths = [endpoint.surface.path for endpoint in running]
    return [*found, *protected_resource.routes(settings, [*paths, REST], root=MAIN)]
