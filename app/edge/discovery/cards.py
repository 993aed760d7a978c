"""Machine-readable descriptions of the service, each in the form that its governing text asks for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mcp_types.version import LATEST_PROTOCOL_VERSION

from app.edge.discovery.wording import first
from app.gate.policy import MEANINGS

if TYPE_CHECKING:
    from app.edge.discovery.facts import Facts
    from app.edge.mcp.tool import Tool

Json = dict[str, Any]
SERVER_NAME = "context-repo"
SERVER_CARD = "application/mcp-server-card+json"
_PLUGIN_NAME_LENGTH = 50
_CARD_SCHEMA = "https://static.modelcontextprotocol.io/schemas/mcp-server-card/v1.json"
_CARD_SCHEMA_2127 = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"
_JSON = "application/json"


def agent_web_protocol(facts: Facts) -> Json:
    """Agent Web Protocol 0.2: what can be done here, each action bound to a tool."""
    return {
        "awp_version": "0.2",
        "domain": facts.host,
        "intent": facts.short,
        "protocols": {"mcp": {"version": LATEST_PROTOCOL_VERSION, "endpoint": f"{facts.url}/mcp"}},
        "capabilities": {
            "streaming": False,
            "batch_actions": True,
            "webhooks": False,
            "pagination": True,
            "idempotency": True,
        },
        "auth": {
            "required_for": [tool.name for tool in facts.tools],
            "optional_for": [],
            "type": "oauth2",
        },
        "actions": [_action(tool) for tool in facts.tools],
        "errors": {
            "REVISION_MISMATCH": {"recovery": "Read the document again and apply the change to what it says now."},
            "RATE_LIMITED": {"recovery": "Wait as long as Retry-After says."},
            "UNAUTHENTICATED": {"recovery": "Sign in again, or check the API key."},
            "NOT_FOUND": {"recovery": "List or search for the id."},
        },
        "agent_hints": {"instructions": f"{facts.url}/AGENTS.md"},
    }


def _action(tool: Tool) -> Json:
    schema = tool.input_schema
    required = schema.get("required", [])
    inputs = {
        name: {"type": field.get("type", "any"), "required": name in required}
        | ({"description": field["description"]} if "description" in field else {})
        for name, field in schema.get("properties", {}).items()
    }
    hints = tool.hints
    return {
        "id": tool.name,
        "description": first(tool.description),
        "auth_required": True,
        "inputs": inputs,
        "outputs": _outputs(tool),
        "via": "mcp",
        "operation": tool.name,
        "sensitivity": "destructive" if hints.destructive else "standard",
        "requires_human_confirmation": False,
        "reversible": True,
        "idempotency": {"supported": not hints.read_only},
        "execution_model": "sync",
    }


def _outputs(tool: Tool) -> Json:
    """Give what a success holds, by name: the REST body, unless the tool shapes its own from its arguments."""
    if tool.structured is not None:
        shaped = tool.structured(dict.fromkeys(tool.input_schema["properties"], ""))
        return {name: {"type": "boolean" if isinstance(value, bool) else "string"} for name, value in shaped.items()}
    schema = tool.operation.result.model_json_schema(by_alias=True, mode="serialization")
    return {name: {"type": _type(part)} for name, part in schema["properties"].items()}


def _type(part: Json) -> str:
    """Name the type of a part of a schema; what refers to a model, or to none, is an object."""
    choices = [choice for choice in part.get("anyOf", [part]) if choice.get("type") != "null"]
    found: str = choices[0].get("type", "object")
    return found


def plugin(facts: Facts) -> Json:
    """OpenAI's plugin manifest: retired by its maker, still asked for."""
    name = re.sub(r"[^a-z0-9_]+", "_", facts.product.lower()).strip("_")[:_PLUGIN_NAME_LENGTH] or "context_repo"
    auth: Json = {
        "type": "oauth",
        "client_url": f"{facts.issuer}/oauth/authorize",
        "scope": " ".join(scope.value for scope in MEANINGS),
        "authorization_url": f"{facts.issuer}/oauth/token",
        "authorization_content_type": "application/x-www-form-urlencoded",
        "verification_tokens": {},
    }
    return {
        "schema_version": "v1",
        "name_for_human": facts.product,
        "name_for_model": name,
        "description_for_human": facts.short,
        "description_for_model": facts.summary,
        "auth": auth if facts.issuer == facts.url else {"type": "none"},
        "api": {"type": "openapi", "url": f"{facts.url}/openapi.json"},
        "logo_url": f"{facts.url}/icon.svg",
        "contact_email": facts.support_email,
        "legal_info_url": facts.legal_url or f"{facts.url}/about",
    }


def agent_card(facts: Facts) -> Json:
    """A2A agent card, version line 0.2; the interface behind it is MCP, and it says so."""
    found: Json = {
        "protocolVersion": "0.2.6",
        "name": facts.product,
        "description": facts.summary,
        "url": f"{facts.url}/mcp",
        "version": facts.version,
        "documentationUrl": f"{facts.url}/docs",
        "iconUrl": f"{facts.url}/icon.svg",
        "preferredTransport": "MCP",
        "capabilities": {"streaming": False, "pushNotifications": False, "stateTransitionHistory": False},
        "defaultInputModes": [_JSON],
        "defaultOutputModes": [_JSON, "text/markdown"],
        "supportsAuthenticatedExtendedCard": False,
        "securitySchemes": {
            "apiKey": {"type": "apiKey", "in": "header", "name": "Authorization", "description": "API-Key gm_…"},
            "bearer": {"type": "http", "scheme": "bearer", "description": "OAuth 2 access token"},
        },
        "security": [{"apiKey": []}, {"bearer": []}],
        "skills": [
            {"id": tool.name, "name": tool.title, "description": first(tool.description), "tags": _tags(tool)}
            for tool in facts.tools
        ],
    }
    if facts.operator:
        found["provider"] = {"organization": facts.operator, "url": f"{facts.url}/about"}
    return found


def _tags(tool: Tool) -> list[str]:
    areas = {scope.value.partition(".")[0] for scope in tool.operation.scopes}
    return [*sorted(areas), "read" if tool.hints.read_only else "write"]


def mcp_card(facts: Facts, *, with_tools: bool) -> Json:
    """Server card of SEP-1649; with every tool where a registry lists them."""
    return {
        "$schema": _CARD_SCHEMA,
        "version": "1.0",
        "protocolVersion": LATEST_PROTOCOL_VERSION,
        "serverInfo": {"name": SERVER_NAME, "title": facts.product, "version": facts.version},
        "description": facts.summary,
        "iconUrl": f"{facts.url}/icon.svg",
        "documentationUrl": f"{facts.url}/docs",
        "transport": {"type": "streamable-http", "endpoint": "/mcp"},
        "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
        "authentication": {"required": True, "schemes": ["oauth2", "bearer", "api-key"]},
        "tools": [_wire(tool) for tool in facts.tools] if with_tools else ["dynamic"],
        "resources": ["dynamic"],
        "prompts": ["dynamic"],
    }


def _wire(tool: Tool) -> Json:
    found: Json = tool.wire.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {name: found[name] for name in ("name", "title", "description", "inputSchema", "annotations")}


def registry_card(facts: Facts) -> Json:
    """Server card of SEP-2127, which lists no tools."""
    owner = ".".join(reversed(facts.host.split(".")))
    return {
        "$schema": _CARD_SCHEMA_2127,
        "name": f"{owner}/{SERVER_NAME}",
        "version": facts.version,
        "title": facts.product,
        "description": facts.short,
        "websiteUrl": facts.url,
        "icons": [{"src": f"{facts.url}/icon.svg", "mimeType": "image/svg+xml"}],
        "remotes": [
            {
                "type": "streamable-http",
                "url": f"{facts.url}/mcp",
                "supportedProtocolVersions": facts.capabilities.protocol_versions,
            }
        ],
    }


def ai_catalog(facts: Facts) -> Json:
    """Name the cards that there are."""
    return {
        "specVersion": "1.0",
        "host": {"displayName": facts.product, "identifier": facts.host, "documentationUrl": f"{facts.url}/docs"},
        "entries": [
            {
                "identifier": f"urn:mcp:server:{facts.host}:{SERVER_NAME}",
                "displayName": facts.product,
                "mediaType": SERVER_CARD,
                "url": f"{facts.url}/mcp/server-card",
            },
            {
                "identifier": f"urn:a2a:agent:{facts.host}:{SERVER_NAME}",
                "displayName": facts.product,
                "mediaType": "application/a2a-agent-card+json",
                "url": f"{facts.url}/.well-known/agent-card.json",
            },
        ],
    }


def api_catalog(facts: Facts) -> Json:
    """RFC 9727: the APIs of this host, where they are described and how they are."""
    openapi = "application/vnd.oai.openapi+json;version=3.1"
    metadata = "/.well-known/oauth-protected-resource"
    status = [{"href": f"{facts.url}/status", "type": "text/html"}]
    return {
        "linkset": [
            {
                "anchor": f"{facts.url}/v1",
                "service-desc": [
                    {"href": f"{facts.url}/openapi.json", "type": openapi},
                    {"href": f"{facts.url}/api/openapi.yaml", "type": "application/yaml"},
                    {"href": f"{facts.url}/openapi/full.json", "type": openapi},
                ],
                "service-doc": [{"href": f"{facts.url}/docs/api", "type": "text/html"}],
                "service-meta": [{"href": f"{facts.url}{metadata}/v1", "type": _JSON}],
                "status": status,
            },
            {
                "anchor": f"{facts.url}/mcp",
                "service-desc": [{"href": f"{facts.url}/.well-known/mcp/server-card.json", "type": _JSON}],
                "service-doc": [{"href": f"{facts.url}/docs/tools", "type": "text/html"}],
                "service-meta": [{"href": f"{facts.url}{metadata}/mcp", "type": _JSON}],
                "status": status,
            },
        ]
    }
