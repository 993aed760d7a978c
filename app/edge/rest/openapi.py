"""OpenAPI 3.1, generated from the routes: the core document and the full one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pydantic_core
import yaml
from fastapi.openapi.utils import get_openapi
from starlette.responses import Response
from starlette.routing import Route

from app import version
from app.edge.revalidation import revalidated
from app.gate.policy import MEANINGS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request

    from app.edge.rest.router import OperationRoute
    from app.settings import Settings

CONTENT_SIGNAL = "ai-train=no, search=yes, ai-input=yes"
_SECURITY = {
    "apiKey": {
        "type": "apiKey",
        "in": "header",
        "name": "Authorization",
        "description": "`API-Key gm_<publicId>_<secret>`",
    },
    "bearer": {"type": "http", "scheme": "bearer", "description": "OAuth 2 access token"},
    "browserSession": {
        "type": "apiKey",
        "in": "cookie",
        "name": "__Host-session",
        "description": "A person's sign-in, on requests of the service's own pages",
    },
}


def _oauth(settings: Settings) -> dict[str, Any]:
    """Describe how programs get tokens: from the built-in server, or where the operator's issuer says."""
    if settings.auth_issuer:
        url = f"{settings.auth_issuer.rstrip('/')}/.well-known/openid-configuration"
        return {"type": "openIdConnect", "openIdConnectUrl": url, "description": "Sign-in at the operator's issuer"}
    flow = {
        "authorizationUrl": f"{settings.url}/oauth/authorize",
        "tokenUrl": f"{settings.url}/oauth/token",
        "refreshUrl": f"{settings.url}/oauth/token",
        "scopes": {scope.value: meaning for scope, meaning in MEANINGS.items()},
    }
    text = "OAuth 2.1 with PKCE (S256) and `resource`; clients register themselves at `/oauth/register`"
    return {"type": "oauth2", "flows": {"authorizationCode": flow}, "description": text}


def document(settings: Settings, routes: Sequence[OperationRoute], *, core_only: bool) -> dict[str, Any]:
    """Describe the routes; `core_only` leaves out what is not of the core contract."""
    chosen = sorted((route for route in routes if route.face.core or not core_only), key=_order)
    described = get_openapi(
        title=f"{settings.product_name} API",
        version=version(),
        openapi_version="3.1.0",
        description="Versioned documents and prompts for agents and people: read, search, edit, and lose no update.",
        license_info={"name": "MIT", "identifier": "MIT"},
        routes=chosen,
        servers=[{"url": settings.url}],
    )
    components = described.setdefault("components", {})
    used = {name for path in described["paths"].values() for item in path.values() for name in _schemes(item)}
    schemes = _SECURITY | {"oauth": _oauth(settings)}
    components["securitySchemes"] = {name: scheme for name, scheme in schemes.items() if name in used}
    for name in ("HTTPValidationError", "ValidationError"):
        components.get("schemas", {}).pop(name, None)
    for path in described["paths"].values():
        for operation in path.values():
            _answer_errors_once(operation)
    return described


def _schemes(operation: dict[str, Any]) -> list[str]:
    return [name for alternative in operation.get("security", ()) for name in alternative]


def _order(route: OperationRoute) -> tuple[str, str]:
    return route.path, route.face.method


def _answer_errors_once(operation: dict[str, Any]) -> None:
    """Drop the framework's own 422 body: refusals have one envelope."""
    schema = operation["responses"].get("422", {}).get("content", {}).get("application/json", {}).get("schema", {})
    if schema.get("$ref", "").endswith("HTTPValidationError"):
        del operation["responses"]["422"]


def openapi_routes(settings: Settings, routes: Sequence[OperationRoute]) -> list[Route]:
    """Serve the documents, serialised once."""
    core = document(settings, routes, core_only=True)
    full = document(settings, routes, core_only=False)
    return [
        _fixed("/openapi.json", pydantic_core.to_json(core), "application/vnd.oai.openapi+json;version=3.1"),
        _fixed("/openapi/full.json", pydantic_core.to_json(full), "application/vnd.oai.openapi+json;version=3.1"),
        _fixed("/api/openapi.yaml", as_yaml(core), "application/yaml"),
    ]


def as_yaml(value: dict[str, Any]) -> bytes:
    """Write a document as YAML, in its own order."""
    text: str = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=120)
    return text.encode()


def as_file(value: dict[str, Any]) -> str:
    """Write a document as it is committed: readable and with one order."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _fixed(path: str, body: bytes, media_type: str) -> Route:
    headers = {"content-signal": CONTENT_SIGNAL, "cache-control": "public, max-age=300"}

    async def answer(request: Request) -> Response:
        return revalidated(request, Response(body, media_type=media_type, headers=headers))

    return Route(path, answer, methods=["GET"])
