"""The public documents that describe the service to a client before it signs in."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pydantic_core
from mcp_types.version import SUPPORTED_PROTOCOL_VERSIONS

from app import version
from app.edge.mcp.resource import Resource
from app.edge.rest import openapi
from app.gate.capabilities import (
    Authentication,
    Capabilities,
    Limits,
    RateLimit,
    ResourceSummary,
    ToolSummary,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from app.edge.mcp.resource import ResourceTemplate
    from app.edge.mcp.tool import Tool
    from app.edge.rest.router import OperationRoute
    from app.gate.policy import Plan, Plans
    from app.settings import Settings


def public_resources(
    settings: Settings, routes: Sequence[OperationRoute], capabilities: Callable[[], Capabilities]
) -> tuple[Resource, ...]:
    """Give the resources that need no credential; the capabilities name them, and so are asked for later."""

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
            lambda: capabilities().to_json().decode(),
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
    settings: Settings,
    tools: Sequence[Tool],
    resources: Sequence[Resource],
    templates: Sequence[ResourceTemplate],
    paths: Sequence[str],
    plans: Plans,
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
        limits=Limits(
            max_body_bytes=settings.max_body_bytes,
            rates={plan.name: _rates(plan) for plan in plans.plans.values()},
        ),
        tools=[_summary(tool) for tool in tools],
        resources=[
            *(_resource(resource, public=True) for resource in resources),
            *(_resource(template, public=False) for template in templates if template.parameter is None),
        ],
        resource_templates=[template.uri for template in templates if template.parameter is not None],
    )


def _rates(plan: Plan) -> dict[str, RateLimit]:
    return {
        family.value: RateLimit(limit=rate.count, window_seconds=rate.seconds) for family, rate in plan.rates.items()
    }


def _resource(item: Resource | ResourceTemplate, *, public: bool) -> ResourceSummary:
    return ResourceSummary(uri=item.uri, title=item.title, mime_type=item.mime_type, public=public)


def _summary(tool: Tool) -> ToolSummary:
    return ToolSummary(
        name=tool.name,
        title=tool.title,
        scopes=[scope.value for scope in tool.operation.scopes],
        rate_family=tool.operation.rate.value,
        read_only=tool.hints.read_only,
    )
