"""The three grants: code with PKCE, refresh with rotation, device code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from authlib.oauth2.rfc6749 import grants
from authlib.oauth2.rfc6749.errors import InvalidGrantError, InvalidRequestError
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc8628 import DeviceCodeGrant

from app.features.oauth.provider import queries
from app.features.oauth.provider.clients import AUTH_METHODS
from app.features.oauth.provider.server import digest, new_secret, wanted_scopes
from app.features.oauth.schemas import DeviceRow
from app.kit.ids import new_id

if TYPE_CHECKING:
    from app.features.oauth.provider.clients import Client
    from app.features.oauth.provider.server import Request, Server
    from app.features.oauth.schemas import Approval, Lineage

CODE_SECONDS = 60
POLL_SECONDS = 5
METHODS = ["client_secret_basic", "client_secret_post", "none"]
assert set(METHODS) == set(AUTH_METHODS)


class Pkce(CodeChallenge):  # type: ignore[misc]
    """RFC 7636 with S256 only, for every client, demanded where the authorization begins."""

    DEFAULT_CODE_CHALLENGE_METHOD = "S256"
    SUPPORTED_CODE_CHALLENGE_METHOD = ["S256"]  # noqa: RUF012  the library's form

    def validate_code_challenge(self, grant: Any, redirect_uri: str) -> None:
        """Refuse a request without a challenge, or with one by another method."""
        if not grant.request.payload.data.get("code_challenge"):
            raise InvalidRequestError("Missing 'code_challenge': PKCE with S256 is required.")
        if grant.request.payload.data.get("code_challenge_method") != "S256":
            raise InvalidRequestError("Unsupported 'code_challenge_method': only S256.")
        super().validate_code_challenge(grant, redirect_uri)

    def get_authorization_code_challenge_method(self, authorization_code: Lineage) -> str:  # noqa: ARG002
        """Name the only method there is."""
        return "S256"


class Code:
    """An authorization code as the library asks about it."""

    def __init__(self, text: str, line: Lineage) -> None:
        self.digest = digest(text)
        self.line = line
        self.code_challenge = line.code_challenge

    def get_redirect_uri(self) -> str:
        """Give the address that the code was sent to."""
        return self.line.redirect_uri

    def get_scope(self) -> str:
        """Give what was granted."""
        return " ".join(self.line.scopes)


class CodeGrant(grants.AuthorizationCodeGrant):  # type: ignore[misc]
    """RFC 6749 section 4.1; a code is single-use, lives a minute, and is bound to everything that was agreed on."""

    TOKEN_ENDPOINT_AUTH_METHODS = METHODS
    request: Request
    server: Server

    def validate_authorization_request(self) -> str:
        """Check what the library does not: the resource and the scopes."""
        redirect_uri: str = super().validate_authorization_request()
        try:
            self.request.resource = self.server.target(self.request)
            wanted_scopes(self.request.payload.scope)
        except Exception as error:
            error.redirect_uri = redirect_uri  # type: ignore[attr-defined]
            raise
        return redirect_uri

    def save_authorization_code(self, code: str, request: Request) -> None:
        """Write the grant, unless one is continued, and the code's digest."""
        approval: Approval = request.user
        client: Client = request.client
        connection = self.server.connection
        redirect = client.redirect(request.payload.redirect_uri)
        assert redirect is not None
        grant_id = approval.grant_id or new_id()
        if approval.grant_id is None and not queries.insert_grant(
            connection,
            grant_id,
            approval,
            client.client_id,
            client.name,
            resource=request.resource,
            answers_to=redirect.origin,
        ):
            raise InvalidRequestError("The workspace is not one of this person.", redirect_uri=redirect.uri)
        queries.insert_code(
            connection,
            code_hash=digest(code),
            grant_id=grant_id,
            family_id=new_id(),
            client_id=client.client_id,
            redirect_uri=redirect.uri,
            code_challenge=request.payload.data["code_challenge"],
            resource=request.resource,
            scopes=list(approval.scopes),
            seconds=CODE_SECONDS,
        )

    def generate_authorization_code(self) -> str:
        """Make a code."""
        return new_secret("ctxc_")

    def query_authorization_code(self, code: str, client: Client) -> Code:
        """Find the code of this client; one that was used before ends all that came of it (RFC 6749, 4.1.2)."""
        line = queries.get_code(self.server.connection, digest(code), client.client_id)
        if line is None:
            raise InvalidGrantError("The code is unknown.")
        if line.used:
            queries.revoke_family(self.server.connection, line.family_id)
            raise InvalidGrantError("The code was used before; what came of it is revoked.")
        if not line.live:
            raise InvalidGrantError("The code has expired.")
        self.request.resource = self.server.target(self.request, line.resource)
        return Code(code, line)

    def authenticate_user(self, authorization_code: Code) -> Lineage:
        """Use the code up, now that everything else was right."""
        line = authorization_code.line
        if not queries.claim_code(self.server.connection, authorization_code.digest):
            queries.revoke_family(self.server.connection, line.family_id)
            raise InvalidGrantError("The code was used before; what came of it is revoked.")
        self.request.line = line
        return line

    def delete_authorization_code(self, authorization_code: Code) -> None:
        """Keep it: a second use must be known."""


class Refresh:
    """A refresh token as the library asks about it."""

    def __init__(self, text: str, line: Lineage) -> None:
        self.digest = digest(text)
        self.line = line

    def check_client(self, client: Client) -> bool:
        """Tell whether it was given to this client."""
        return self.line.client_id == client.client_id

    def get_scope(self) -> str:
        """Give what was granted; a request may name `offline_access` beside it."""
        return " ".join([*self.line.scopes, "offline_access"])


class RefreshGrant(grants.RefreshTokenGrant):  # type: ignore[misc]
    """RFC 6749 section 6 with rotation: a used token gives a fresh pair for a moment, and later ends its family."""

    TOKEN_ENDPOINT_AUTH_METHODS = METHODS
    INCLUDE_NEW_REFRESH_TOKEN = True
    request: Request
    server: Server

    def authenticate_refresh_token(self, refresh_token: str) -> Refresh | None:
        """Find the token; a replay is answered with the end of all its descendants."""
        line = queries.get_refresh(self.server.connection, digest(refresh_token))
        if line is None or not line.live:
            raise InvalidGrantError("The refresh token is unknown, expired or revoked.")
        if line.client_id != self.request.client.client_id:
            raise InvalidGrantError("The refresh token is unknown, expired or revoked.")
        if line.used:
            self._end(line)
        self.request.resource = self.server.target(self.request, line.resource)
        return Refresh(refresh_token, line)

    def authenticate_user(self, refresh_token: Refresh) -> Lineage:
        """Use the token up, now that everything else was right."""
        if not queries.claim_refresh(self.server.connection, refresh_token.digest):
            self._end(refresh_token.line)
        self.request.line = refresh_token.line
        return refresh_token.line

    def revoke_old_credential(self, refresh_token: Refresh) -> None:
        """Do nothing more: it was used up before the new one was made."""

    def _end(self, line: Lineage) -> None:
        queries.revoke_family(self.server.connection, line.family_id)
        raise InvalidGrantError("The refresh token was used before; what came of it is revoked. Sign in again.")


class Device:
    """A device's request as the library asks about it."""

    def __init__(self, text: str, row: DeviceRow) -> None:
        self.digest = digest(text)
        self.row = row

    def get_client_id(self) -> str:
        """Give the client that asked."""
        return self.row.client_id

    def get_scope(self) -> str:
        """Give what was asked for; the tokens' scope is the grant's."""
        return " ".join(self.row.scopes)

    def get_user_code(self) -> str:
        """Give the code that the person types."""
        return self.row.user_code

    def is_expired(self) -> bool:
        """Tell whether its time is over."""
        return self.row.expired


class DeviceGrant(DeviceCodeGrant):  # type: ignore[misc]
    """RFC 8628: a person approves on another screen what a device asks for."""

    TOKEN_ENDPOINT_AUTH_METHODS = METHODS
    request: Request
    server: Server

    def query_device_credential(self, device_code: str) -> Device:
        """Find the request."""
        row = queries.poll_device(self.server.connection, digest(device_code), POLL_SECONDS - 1)
        if row is None or row.used:
            raise InvalidGrantError("The device code is unknown or was used.")
        self.request.resource = self.server.target(self.request, row.resource)
        self._found = Device(device_code, row)
        return self._found

    def query_user_grant(self, user_code: str) -> tuple[Any, bool] | None:  # noqa: ARG002  the row was read just now
        """Tell what the person decided, and use an approved code up."""
        row = self._found.row
        if row.denied:
            return row, False
        if row.grant_id is None:
            return None
        line = queries.claim_device(self.server.connection, self._found.digest, new_id())
        if line is None:
            raise InvalidGrantError("The device code was used before, or access was taken back.")
        self.request.line = line
        return line, True

    def should_slow_down(self, credential: Device) -> bool:
        """Tell whether the device polls faster than it was told."""
        return credential.row.too_soon
