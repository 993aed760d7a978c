"""The public documents that describe the service to a client before it signs in."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pydantic_core
from mcp_types.version import SUPPORTED_PROTOCOL_VERSIONS

from app import version
from app.edge.mcp.resource import Resource
from app.edge.rest import openapi
from app.gate.capabilities import Authentication, Capabilities, Limits, ToolSummary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.edge.mcp.resource import ResourceTemplate
    from app.edge.mcp.tool import Tool
    from app.edge.rest.router import OperationRoute
    from app.settings import Settings


def public_resources(
    settings: Settings, routes: Sequence[OperationRoute], capabilities: Capabilities
) -> tuple[Resource, ...]:
    """Give the resources that need no credential."""

    @cache
    def described() -> str:
        return pydantic_core.to_json(openapi.document(settings, routes, core_only=True)).decode()

    return (
        Resource(
            "contextrepo://capabilities",
            "API Capabilities",
            "API capabilities",
            "What this server offers: tools with their scopes, resources, limits and how to authenticate.",
            "application/json",
            lambda: capabilities.to_json().decode(),
        ),
        Resource(
            "contextrepo://openapi",
            "OpenAPI",
            "OpenAPI description",
            "The REST API of the same operations, as OpenAPI 3.1.",
            "application/json",
            described,
        ),
    )


def capabilities(
    settings: Settings, tools: Sequence[Tool], templates: Sequence[ResourceTemplate], paths: Sequence[str]
) -> Capabilities:
    """Describe the service; built once, since it is the same for everybody."""
    return Capabilities(
        name="context-repo",
        version=version(),
        protocol_versions=list(SUPPORTED_PROTOCOL_VERSIONS),
        endpoints=[f"{settings.url}{path}" for path in paths],
        rest=f"{settings.url}/v1",
        openapi=f"{settings.url}/openapi.json",
        authentication=Authentication(schemes=["API-Key", "Bearer"], header="Authorization"),
        limits=Limits(max_body_bytes=settings.max_body_bytes),
        tools=[_summary(tool) for tool in tools],
        resource_templates=[template.uri for template in templates],
    )


def _summary(tool: Tool) -> ToolSummary:
    return ToolSummary(
        name=tool.name,
        title=tool.title,
        scopes=[scope.value for scope in tool.operation.scopes],
        rate_family=tool.operation.rate.value,
        read_only=tool.hints.read_only,
    )
