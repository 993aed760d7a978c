"""The public documents that describe the service to a client before it signs in."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pydantic_core
from mcp_types.version import SUPPORTED_PROTOCOL_VERSIONS

from app import version
from app.edge.mcp.resource import Resource
from app.edge.rest import openapi

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.edge.mcp.resource import ResourceTemplate
    from app.edge.mcp.tool import Tool
    from app.edge.rest.router import OperationRoute
    from app.settings import Settings


def public_resources(
    settings: Settings,
    routes: Sequence[OperationRoute],
    tools: Sequence[Tool],
    templates: Sequence[ResourceTemplate],
    paths: Sequence[str],
) -> tuple[Resource, ...]:
    """Give the resources that need no credential; each is written at its first reading."""

    @cache
    def capabilities() -> str:
        return pydantic_core.to_json(_capabilities(settings, tools, templates, paths)).decode()

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
            capabilities,
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


def _capabilities(
    settings: Settings, tools: Sequence[Tool], templates: Sequence[ResourceTemplate], paths: Sequence[str]
) -> dict[str, Any]:
    return {
        "name": "context-repo",
        "version": version(),
        "protocolVersions": list(SUPPORTED_PROTOCOL_VERSIONS),
        "endpoints": [f"{settings.url}{path}" for path in paths],
        "rest": f"{settings.url}/v1",
        "openapi": f"{settings.url}/openapi.json",
        "authentication": {"schemes": ["API-Key", "Bearer"], "header": "Authorization"},
        "limits": {"maxBodyBytes": settings.max_body_bytes},
        "tools": [
            {
                "name": tool.name,
                "title": tool.title,
                "scopes": [scope.value for scope in tool.operation.scopes],
                "rateFamily": tool.operation.rate.value,
                "readOnly": tool.hints.read_only,
            }
            for tool in tools
        ],
        "resourceTemplates": [template.uri for template in templates],
    }
