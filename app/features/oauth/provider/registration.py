"""Dynamic registration (RFC 7591), its management (RFC 7592), and the same checks for client documents."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING, Any

from authlib.oauth2.rfc6749 import OAuth2Error
from authlib.oauth2.rfc7591 import ClientMetadataClaims, ClientRegistrationEndpoint, InvalidClientMetadataError
from authlib.oauth2.rfc7591.errors import InvalidRedirectURIError
from authlib.oauth2.rfc7592 import ClientConfigurationEndpoint

from app.features.oauth.provider import queries
from app.features.oauth.provider.clients import AUTH_METHODS, DEVICE_GRANT, GRANT_TYPES, Client
from app.features.oauth.provider.server import SCOPES, TOLERATED, digest, new_secret
from app.features.oauth.redirects import parse_redirect
from app.features.oauth.schemas import ClientRow

if TYPE_CHECKING:
    from app.features.oauth.provider.server import Json, Server

_MAX_REDIRECTS = 20
_MAX_TEXT = 2000
_METHOD = "token_endpoint_auth_method"
_TEXTS = ("client_name", "client_uri", "logo_uri", "tos_uri", "policy_uri", "software_id", "software_version", "scope")
_SERVER = {
    "grant_types_supported": list(GRANT_TYPES),
    "response_types_supported": ["code"],
    "token_endpoint_auth_methods_supported": list(AUTH_METHODS),
}


class InvalidTokenError(OAuth2Error):  # type: ignore[misc]
    """The registration access token is missing or of another client."""

    error = "invalid_token"
    status_code = 401

    def get_headers(self) -> list[tuple[str, str]]:
        """Say how to authenticate."""
        return [*super().get_headers(), ("WWW-Authenticate", 'Bearer error="invalid_token"')]


class Claims(ClientMetadataClaims):  # type: ignore[misc]
    """What a client may say of itself; more is overlooked."""

    REGISTERED_CLAIMS = [  # noqa: RUF012  the library's form
        "redirect_uris",
        _METHOD,
        "grant_types",
        "response_types",
        "application_type",
        "contacts",
        *_TEXTS,
    ]


def usable(raw: dict[str, Any]) -> dict[str, Any]:
    """Keep what we understand of a client's metadata, and refuse what could do harm.

    Raises:
        InvalidClientMetadataError, InvalidRedirectURIError.
    """
    data = {key: value for key, value in raw.items() if key in Claims.REGISTERED_CLAIMS and value is not None}
    for name in (*_TEXTS, _METHOD):
        text = data.get(name, "")
        if not isinstance(text, str) or len(text) > _MAX_TEXT or "\0" in text:
            raise InvalidClientMetadataError(f"{name} must be a short text")
    for name in ("grant_types", "response_types", "contacts"):
        items = data.get(name, [])
        if not isinstance(items, list) or len(items) > _MAX_REDIRECTS or not all(_is_short(item) for item in items):
            raise InvalidClientMetadataError(f"{name} must be a short list of texts")
    if data.get("application_type", "web") not in ("web", "native"):
        raise InvalidClientMetadataError("application_type must be web or native")
    grants = [kind for kind in data.get("grant_types") or ["authorization_code"] if kind in GRANT_TYPES]
    if "authorization_code" not in grants and DEVICE_GRANT not in grants:
        raise InvalidClientMetadataError("grant_types must hold authorization_code")
    data["grant_types"] = grants
    if "authorization_code" in grants:
        data["response_types"] = ["code"]
        _check_redirects(data.get("redirect_uris"))
    return data


def _is_short(item: object) -> bool:
    return isinstance(item, str) and len(item) <= _MAX_TEXT and "\0" not in item


def _check_redirects(uris: object) -> None:
    if not isinstance(uris, list) or not 0 < len(uris) <= _MAX_REDIRECTS:
        raise InvalidRedirectURIError("redirect_uris must be a list of 1 to 20 addresses")
    if any(parse_redirect(uri) is None for uri in uris):
        raise InvalidRedirectURIError("Redirect addresses are https, or http on 127.0.0.1, localhost or [::1]")


def _checked(claims_class: type[Claims], request: Json) -> dict[str, Any]:
    data = usable(request.payload.data)
    claims = claims_class(data, {}, claims_class.get_claims_options(_SERVER), _SERVER)
    try:
        claims.validate()
    except Exception as error:
        raise InvalidClientMetadataError from error
    found: dict[str, Any] = claims.get_registered_claims()
    return found


def _issued(client: Client) -> dict[str, Any]:
    """Give what the server adds to what the client said, but for secrets, which are shown once."""
    return {"client_id": client.client_id, "client_id_issued_at": _time(client)} | (
        {} if client.row.secret_hash is None else {"client_secret_expires_at": 0}
    )


def _time(client: Client) -> int:
    return int(client.row.created_at.timestamp()) if client.row.created_at else 0


class Registration(ClientRegistrationEndpoint):  # type: ignore[misc]
    """Open registration."""

    server: Server

    def authenticate_token(self, request: Json) -> bool:  # noqa: ARG002  the library's form
        """Let everybody register."""
        return True

    def extract_client_metadata(self, request: Json) -> dict[str, Any]:
        """Check what the client says."""
        return _checked(Claims, request)

    def generate_client_id(self, request: Json) -> str:  # noqa: ARG002  the library's form
        """Make an id that cannot be guessed."""
        return f"dyn_{secrets.token_urlsafe(18)}"

    def generate_client_secret(self, request: Json) -> str:
        """Make a secret; a public client gets none."""
        method = request.payload.data.get(_METHOD, "client_secret_basic")
        return "" if method == "none" else new_secret("ctxs_")

    def generate_client_info(self, request: Json) -> dict[str, Any]:
        """Leave out the secret of a client that has none."""
        info: dict[str, Any] = super().generate_client_info(request)
        if not info["client_secret"]:
            del info["client_secret"], info["client_secret_expires_at"]
        return info

    def save_client(self, client_info: dict[str, Any], client_metadata: dict[str, Any], request: Json) -> Client:
        """Keep the client."""
        secret = client_info.get("client_secret")
        request.credential = new_secret("ctxm_")
        row = ClientRow(
            client_info["client_id"],
            "registered",
            client_metadata,
            secret_hash=digest(secret) if secret else None,
            registration_hash=digest(request.credential),
        )
        queries.insert_client(self.server.connection, row)
        return Client(row)

    def generate_client_registration_info(self, client: Client, request: Json) -> dict[str, str]:
        """Tell where and with what the registration is managed."""
        return {
            "registration_client_uri": f"{self.server.terms.issuer}/oauth/register/{client.client_id}",
            "registration_access_token": request.credential,
        }


class Configuration(ClientConfigurationEndpoint):  # type: ignore[misc]
    """Reading, changing and deleting a registration, with the token that came with it."""

    server: Server

    def authenticate_token(self, request: Json) -> Client:
        """Find the client that the token is of."""
        scheme, _, token = (request.headers.get("Authorization") or "").partition(" ")
        client = self.server.query_client(request.client_id)
        stored = client.row.registration_hash if client else None
        given = hashlib.sha256(token.strip().encode(errors="surrogatepass")).digest()
        if client is None or stored is None or scheme.lower() != "bearer" or not hmac.compare_digest(stored, given):
            raise InvalidTokenError("The registration access token is missing or wrong.")
        return client

    def authenticate_client(self, request: Json) -> Client:
        """Give the client of the address, which the token was checked against."""
        client: Client = request.credential
        return client

    def check_permission(self, client: Client, request: Json) -> bool:  # noqa: ARG002  the library's form
        """Let every registered client manage itself."""
        return True

    def extract_client_metadata(self, request: Json) -> dict[str, Any]:
        """Check what the client says now."""
        return _checked(Claims, request)

    def introspect_client(self, client: Client) -> dict[str, Any]:
        """Describe the client."""
        return client.row.metadata | _issued(client)

    def generate_client_registration_info(self, client: Client, request: Json) -> dict[str, str]:
        """Tell the same as at registration."""
        return {
            "registration_client_uri": f"{self.server.terms.issuer}/oauth/register/{client.client_id}",
            "registration_access_token": request.headers["Authorization"].partition(" ")[2].strip(),
        }

    def update_client(self, client: Client, client_metadata: dict[str, Any], request: Json) -> Client:  # noqa: ARG002
        """Replace what the client said; how it authenticates cannot change."""
        method = client.row.metadata.get(_METHOD)
        if (client_metadata.get(_METHOD) == "none") is not (method == "none"):
            raise InvalidClientMetadataError("token_endpoint_auth_method cannot change; register again")
        queries.update_client(self.server.connection, client.client_id, client_metadata)
        found = self.server.query_client(client.client_id)
        assert found is not None
        return found

    def delete_client(self, client: Client, request: Json) -> None:  # noqa: ARG002  the library's form
        """Remove the client and what it was granted."""
        queries.delete_client(self.server.connection, client.client_id)


def known_scopes() -> list[str]:
    """List what a client may ask for."""
    return [*SCOPES, *sorted(TOLERATED)]
