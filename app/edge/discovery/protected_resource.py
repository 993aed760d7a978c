"""RFC 9728: what each protected resource is called and how to send it a credential."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pydantic_core
from starlette.responses import Response
from starlette.routing import Route

from app.edge.revalidation import revalidated
from app.gate.policy import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.requests import Request

    from app.settings import Settings

WELL_KNOWN = "/.well-known/oauth-protected-resource"
_HEADERS = {"cache-control": "public, max-age=300"}


@dataclass(frozen=True, slots=True)
class ProtectedResource:
    """A surface as tokens and challenges name it: its public URL, its metadata document, what its scopes are called."""

    url: str
    metadata_url: str
    vocabulary: Vocabulary


def protected_resource(settings: Settings, path: str) -> ProtectedResource:
    """Describe the surface at a path; in the document's address the path comes after the well-known prefix."""
    return ProtectedResource(
        f"{settings.url}{path}", f"{settings.url}{WELL_KNOWN}{path}", Vocabulary.of(settings.auth_scopes)
    )


def document(settings: Settings, path: str) -> dict[str, Any]:
    """Describe the resource at a path."""
    return {
        "resource": f"{settings.url}{path}",
        "authorization_servers": [settings.auth_issuer or settings.url],
        "scopes_supported": list(Vocabulary.of(settings.auth_scopes).names),
        "bearer_methods_supported": ["header"],
        "resource_name": f"{settings.product_name} ({path})",
        "resource_documentation": f"{settings.url}/openapi.json",
    }


def routes(settings: Settings, paths: Iterable[str], root: str) -> list[Route]:
    """Serve a document for each path, and the one of `root` at the bare address too."""
    found = {path: pydantic_core.to_json(document(settings, path)) for path in paths}
    return [_fixed(WELL_KNOWN, found[root]), *(_fixed(f"{WELL_KNOWN}{path}", body) for path, body in found.items())]


def _fixed(path: str, body: bytes) -> Route:
    async def answer(request: Request) -> Response:
        return revalidated(request, Response(body, media_type="application/json", headers=_HEADERS))

    return Route(path, answer, methods=["GET"])
