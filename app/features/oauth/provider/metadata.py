"""RFC 8414: what this authorization server is and can do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.features.oauth.provider.clients import AUTH_METHODS, GRANT_TYPES
from app.features.oauth.provider.registration import known_scopes

if TYPE_CHECKING:
    from app.features.oauth.provider.server import Terms


def document(terms: Terms) -> dict[str, Any]:
    """Describe the server; the issuer is the configured address byte for byte, wherever it stands."""
    issuer = terms.issuer
    secret_methods = [method for method in AUTH_METHODS if method != "none"]
    return {
        "issuer": issuer,
        "authorization_endpoint": f"{issuer}/oauth/authorize",
        "token_endpoint": f"{issuer}/oauth/token",
        "registration_endpoint": f"{issuer}/oauth/register",
        "revocation_endpoint": f"{issuer}/oauth/revoke",
        "introspection_endpoint": f"{issuer}/oauth/introspect",
        "device_authorization_endpoint": f"{issuer}/oauth/device_authorization",
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": list(GRANT_TYPES),
        "scopes_supported": known_scopes(),
        "token_endpoint_auth_methods_supported": list(AUTH_METHODS),
        "revocation_endpoint_auth_methods_supported": list(AUTH_METHODS),
        "introspection_endpoint_auth_methods_supported": secret_methods,
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": True,
        "resource_parameter_supported": True,
        "protected_resources": [issuer + path for path in terms.targets.paths],
        "service_documentation": f"{issuer}/openapi.json",
    }
