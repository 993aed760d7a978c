"""Revocation (RFC 7009), introspection (RFC 7662) and device authorization (RFC 8628)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from authlib.oauth2.rfc6749.errors import InvalidRequestError, UnauthorizedClientError
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7662 import IntrospectionEndpoint
from authlib.oauth2.rfc8628 import DeviceAuthorizationEndpoint

from app.features.oauth.provider import queries
from app.features.oauth.provider.clients import DEVICE_GRANT
from app.features.oauth.provider.grants import METHODS, POLL_SECONDS
from app.features.oauth.provider.server import digest, new_secret, wanted_scopes

if TYPE_CHECKING:
    from app.features.oauth.provider.clients import Client
    from app.features.oauth.provider.server import Request, Server
    from app.features.oauth.schemas import TokenRow

DEVICE_SECONDS = 900
_CONFIDENTIAL = ["client_secret_basic", "client_secret_post"]


class Token:
    """A token as the library asks about it."""

    def __init__(self, row: TokenRow) -> None:
        self.row = row

    def check_client(self, client: Client) -> bool:
        """Tell whether it was given to this client."""
        return self.row.client_id == client.client_id

    def is_expired(self) -> bool:
        """Tell whether it is good for nothing, for whatever reason."""
        return not self.row.live

    def is_revoked(self) -> bool:
        """Tell the same."""
        return not self.row.live


def _found(server: Server, text: str) -> Token | None:
    row = queries.get_token(server.connection, digest(text))
    return Token(row) if row else None


def _check_token(request: Request) -> None:
    """Want a token; a hint is only a hint, so that an unknown one is overlooked."""
    if not request.form.get("token"):
        raise InvalidRequestError("Missing 'token' in request.")


class Revocation(RevocationEndpoint):  # type: ignore[misc]
    """Ends the whole family of a token; an unknown one, or another client's, is answered like a revoked one."""

    CLIENT_AUTH_METHODS = METHODS

    def check_params(self, request: Request, client: Client) -> None:  # noqa: ARG002  the library's form
        """Check the request."""
        _check_token(request)

    def authenticate_token(self, request: Request, client: Client) -> Token | None:
        """Find the client's token."""
        self.check_params(request, client)
        token = _found(self.server, request.form["token"])
        return token if token is not None and token.check_client(client) else None

    def revoke_token(self, token: Token, request: Request) -> None:  # noqa: ARG002  the library's form
        """End the family."""
        queries.revoke_family(self.server.connection, token.row.family_id)


class Introspection(IntrospectionEndpoint):  # type: ignore[misc]
    """Tells a client that can prove itself about its own tokens."""

    CLIENT_AUTH_METHODS = _CONFIDENTIAL

    def check_params(self, request: Request, client: Client) -> None:  # noqa: ARG002  the library's form
        """Check the request."""
        _check_token(request)

    def query_token(self, token_string: str, token_type_hint: str | None) -> Token | None:  # noqa: ARG002
        """Find a token of either kind."""
        return _found(self.server, token_string)

    def check_permission(self, token: Token, client: Client, request: Request) -> bool:  # noqa: ARG002
        """Let a client see only its own tokens."""
        return token.check_client(client)

    def introspect_token(self, token: Token) -> dict[str, Any]:
        """Describe a living token."""
        row = token.row
        return {
            "active": True,
            "client_id": row.client_id,
            "token_type": "Bearer" if row.kind == "access" else "refresh_token",
            "scope": " ".join(row.scopes),
            "sub": str(row.user_id),
            "aud": row.resource,
            "iss": self.server.terms.issuer,
            "exp": row.expires_at,
            "iat": row.issued_at,
        }


class DeviceAuthorization(DeviceAuthorizationEndpoint):  # type: ignore[misc]
    """Begins a device's request."""

    CLIENT_AUTH_METHODS = METHODS
    EXPIRES_IN = DEVICE_SECONDS
    INTERVAL = POLL_SECONDS
    server: Server

    def create_endpoint_response(self, request: Request) -> Any:
        """Check what the library does not, then answer."""
        client: Client = self.authenticate_client(request)
        if not client.check_grant_type(DEVICE_GRANT):
            raise UnauthorizedClientError("The client did not register for device codes.")
        self._request, self._client = request, client
        request.resource = self.server.target(request)
        wanted_scopes(request.payload.scope)
        return super().create_endpoint_response(request)

    def generate_device_code(self) -> str:
        """Make a device code."""
        return new_secret("ctxd_")

    def get_verification_uri(self) -> str:
        """Give the page where a person enters the code."""
        return f"{self.server.terms.issuer}/oauth/device"

    def save_device_credential(self, client_id: str, scope: str | None, data: dict[str, Any]) -> None:
        """Keep the request."""
        queries.insert_device(
            self.server.connection,
            device_hash=digest(data["device_code"]),
            user_code=data["user_code"],
            client_id=client_id,
            client_name=self._client.name,
            resource=self._request.resource,
            scopes=list(wanted_scopes(scope)),
            seconds=self.EXPIRES_IN,
        )
