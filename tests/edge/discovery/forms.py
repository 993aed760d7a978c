"""The forms that cards and lists must have, written from their governing texts: JSON Schemas and small readers."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree as ET

URI = {"type": "string", "pattern": "^https?://[^\\s]+$"}
TEXT = {"type": "string", "minLength": 1}


def _object(required: dict[str, Any], optional: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": required | (optional or {}), **more}


AGENT_WEB_PROTOCOL = _object(
    {
        "awp_version": {"const": "0.2"},
        "domain": {"type": "string", "pattern": "^[a-z0-9.-]+$"},
        "intent": TEXT,
        "actions": {
            "type": "array",
            "minItems": 1,
            "items": _object(
                {
                    "id": TEXT,
                    "description": TEXT,
                    "auth_required": {"type": "boolean"},
                    "inputs": {"type": "object"},
                    "outputs": {"type": "object"},
                },
                {
                    "via": TEXT,
                    "operation": TEXT,
                    "sensitivity": {"enum": ["standard", "destructive", "irreversible"]},
                    "requires_human_confirmation": {"type": "boolean"},
                    "reversible": {"type": "boolean"},
                },
                anyOf=[{"required": ["endpoint", "method"]}, {"required": ["via"]}],
            ),
        },
    },
    {
        "protocols": {"additionalProperties": _object({"version": TEXT, "endpoint": URI})},
        "capabilities": {"type": "object", "additionalProperties": {"type": "boolean"}},
        "auth": {"type": "object"},
        "errors": {"additionalProperties": _object({"recovery": TEXT})},
    },
)

PLUGIN = _object(
    {
        "schema_version": {"const": "v1"},
        "name_for_human": TEXT,
        "name_for_model": {"type": "string", "pattern": "^[A-Za-z0-9_]{1,50}$"},
        "description_for_human": TEXT,
        "description_for_model": TEXT | {"maxLength": 8000},
        "auth": {
            "anyOf": [
                _object({"type": {"const": "none"}}),
                _object(
                    {
                        "type": {"const": "oauth"},
                        "client_url": URI,
                        "scope": TEXT,
                        "authorization_url": URI,
                        "authorization_content_type": TEXT,
                        "verification_tokens": {"type": "object"},
                    }
                ),
            ]
        },
        "api": _object({"type": {"const": "openapi"}, "url": URI}),
        "logo_url": URI,
        "contact_email": {"type": "string"},
        "legal_info_url": URI,
    },
)

AGENT_CARD = _object(
    {
        "name": TEXT,
        "description": TEXT,
        "url": URI,
        "version": TEXT,
        "protocolVersion": {"type": "string", "pattern": "^0\\.2\\."},
        "capabilities": {"type": "object"},
        "defaultInputModes": {"type": "array", "minItems": 1, "items": TEXT},
        "defaultOutputModes": {"type": "array", "minItems": 1, "items": TEXT},
        "skills": {
            "type": "array",
            "minItems": 1,
            "items": _object(
                {"id": TEXT, "name": TEXT, "description": TEXT, "tags": {"type": "array", "items": TEXT, "minItems": 1}}
            ),
        },
    },
    {
        "provider": _object({"organization": TEXT, "url": URI}),
        "documentationUrl": URI,
        "iconUrl": URI,
        "securitySchemes": {"type": "object", "additionalProperties": _object({"type": TEXT})},
        "security": {"type": "array", "items": {"type": "object"}},
    },
)

_LISTED = {"anyOf": [{"const": ["dynamic"]}, {"type": "array", "items": {"type": "object"}}]}
MCP_CARD = _object(
    {
        "$schema": URI,
        "version": {"const": "1.0"},
        "protocolVersion": {"type": "string", "pattern": "^\\d{4}-\\d{2}-\\d{2}$"},
        "serverInfo": _object({"name": TEXT, "version": TEXT}, {"title": TEXT}),
        "transport": _object({"type": {"enum": ["streamable-http", "sse", "stdio"]}, "endpoint": TEXT}),
        "capabilities": {"type": "object"},
    },
    {
        "description": TEXT,
        "iconUrl": URI,
        "documentationUrl": URI,
        "authentication": _object({"required": {"type": "boolean"}, "schemes": {"type": "array", "items": TEXT}}),
        "tools": _LISTED,
        "resources": _LISTED,
        "prompts": _LISTED,
    },
)

TOOL = _object(
    {
        "name": {"type": "string", "pattern": "^[A-Za-z0-9_.-]{1,128}$"},
        "title": TEXT,
        "description": TEXT,
        "inputSchema": _object({"type": {"const": "object"}}),
        "annotations": {"type": "object"},
    }
)

REGISTRY_CARD = _object(
    {
        "$schema": {"type": "string", "pattern": "/v1/server-card\\.schema\\.json$"},
        "name": {"type": "string", "pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$"},
        "version": TEXT,
        "description": TEXT | {"maxLength": 100},
    },
    {
        "title": TEXT,
        "websiteUrl": URI,
        "icons": {"type": "array", "items": _object({"src": URI})},
        "remotes": {"type": "array", "items": _object({"type": {"enum": ["streamable-http", "sse"]}, "url": URI})},
        "tools": False,
    },
)

AI_CATALOG = _object(
    {
        "specVersion": TEXT,
        "entries": {
            "type": "array",
            "minItems": 1,
            "items": _object(
                {
                    "identifier": {"type": "string", "pattern": "^urn:"},
                    "displayName": TEXT,
                    "mediaType": TEXT,
                    "url": URI,
                }
            ),
        },
    }
)

_TARGETS = {"type": "array", "minItems": 1, "items": _object({"href": URI}, {"type": TEXT})}
LINKSET = _object(
    {
        "linkset": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["anchor"],
                "properties": {"anchor": URI},
                "patternProperties": {"^(?!anchor$)[a-z-]+$": _TARGETS},
                "additionalProperties": False,
            },
        }
    }
)

KEYS = _object({"keys": {"type": "array", "maxItems": 0}}, additionalProperties=False)


def llms(text: str) -> dict[str, list[tuple[str, str]]]:
    """Read a text in the form of llmstxt.org: its sections with their links; raises where it has another form."""
    lines = text.splitlines()
    assert re.fullmatch(r"# \S.*", lines[0]), "it begins with a title"
    assert sum(bool(re.match(r"# ", line)) for line in lines) == 1, "there is one title"
    assert next(line for line in lines[1:] if line).startswith("> "), "the summary is a quote"
    found: dict[str, list[tuple[str, str]]] = {}
    section = ""
    for line in lines:
        if line.startswith("## "):
            section = line[3:]
            found[section] = []
        elif section and line:
            link = re.fullmatch(r"- \[([^\]]+)\]\((https?://[^)\s]+)\)(: .+)?", line)
            assert link, f"a section holds links alone: {line}"
            found[section].append((link[1], link[2]))
    assert all(found.values()), "no section is empty"
    return found


def sitemap(body: bytes) -> list[str]:
    """Read a sitemap: the addresses in it."""
    root = ET.fromstring(body)
    space = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
    assert root.tag == f"{space}urlset"
    found = [item.findtext(f"{space}loc") or "" for item in root]
    assert all(item.tag == f"{space}url" for item in root)
    assert len(found) == len(set(found))
    return found
