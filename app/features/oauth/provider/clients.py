"""Clients as the library sees them, and the clients of our own."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from authlib.oauth2.rfc6749 import ClientMixin

from app.features.oauth.redirects import Redirect, matches, parse_redirect
from app.features.oauth.schemas import ClientRow
from app.kit.sanitize import one_line

DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
GRANT_TYPES = ("authorization_code", "refresh_token", DEVICE_GRANT)
AUTH_METHODS = ("none", "client_secret_basic", "client_secret_post")
_NAME_LENGTH = 80

STATIC = {
    "ctx": ClientRow(
        "ctx",
        "static",
        {
            "client_name": "ctx command line",
            "redirect_uris": ["http://127.0.0.1/callback", "http://localhost/callback"],
            "grant_types": list(GRANT_TYPES),
            "token_endpoint_auth_method": "none",
            "application_type": "native",
        },
    )
}
"""Clients that are known without registration."""


def is_document_id(client_id: str) -> bool:
    """Tell whether a client id is the address of its own description."""
    return client_id.startswith("https://")


@dataclass(frozen=True)
class Client(ClientMixin):  # type: ignore[misc]
    """A client with the library's questions answered."""

    row: ClientRow

    @property
    def client_id(self) -> str:
        """Its identifier."""
        return self.row.client_id

    @property
    def name(self) -> str:
        """Its own name, in one visible line: it is text of a stranger."""
        return (
            one_line(str(self.row.metadata.get("client_name") or "").strip(), _NAME_LENGTH) or "An app without a name"
        )

    @property
    def origin(self) -> str:
        """Where a person can place it: the host of its description, or that it only said what it is."""
        if self.row.kind == "document":
            return urlsplit(self.client_id).hostname or ""
        return "part of this service" if self.row.kind == "static" else "registered dynamically"

    @property
    def redirect_uris(self) -> list[str]:
        """The addresses that answers may go to."""
        found: list[str] = self.row.metadata.get("redirect_uris") or []
        return found

    @property
    def is_loopback_only(self) -> bool:
        """Whether every answer goes to a program on the person's machine, which any program there could imitate."""
        found = [parse_redirect(uri) for uri in self.redirect_uris]
        return bool(found) and all(redirect is not None and redirect.is_loopback for redirect in found)

    def redirect(self, uri: str | None) -> Redirect | None:
        """Give the address of an answer, when the client may use it; the only one when none is named."""
        chosen = uri if uri is not None else self.get_default_redirect_uri()
        return parse_redirect(chosen) if chosen is not None and self.check_redirect_uri(chosen) else None

    def get_client_id(self) -> str:
        """Give the identifier."""
        return self.client_id

    def get_default_redirect_uri(self) -> str | None:
        """Give the address that is meant when a request names none: there must be only one."""
        return self.redirect_uris[0] if len(self.redirect_uris) == 1 else None

    def get_allowed_scope(self, scope: str | None) -> str:
        """Keep what is asked for: the person decides, not what the client once wrote about itself."""
        return scope or ""

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        """Compare with the registered addresses."""
        return parse_redirect(redirect_uri) is not None and any(
            matches(registered, redirect_uri) for registered in self.redirect_uris
        )

    def check_client_secret(self, client_secret: str) -> bool:
        """Compare digests in constant time."""
        given = hashlib.sha256(client_secret.encode()).digest()
        return self.row.secret_hash is not None and hmac.compare_digest(self.row.secret_hash, given)

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:  # noqa: ARG002  the same everywhere
        """Tell whether the client proves itself in this way."""
        registered = self.row.metadata.get("token_endpoint_auth_method", "none")
        if registered == "none" or method == "none":
            return bool(registered == method)
        return method in AUTH_METHODS  # a secret is a secret, in the header or in the form

    def check_response_type(self, response_type: str) -> bool:
        """Accept codes only."""
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        """Give refresh tokens to everybody: clients forget to ask, and then ask people to sign in every hour."""
        if grant_type == "refresh_token":
            return True
        registered: Any = self.row.metadata.get("grant_types") or ["authorization_code"]
        return grant_type in registered

    def check_client(self, client: Client) -> bool:
        """Tell whether a registration token, which this client was found by, is of that client."""
        return client.client_id == self.client_id
