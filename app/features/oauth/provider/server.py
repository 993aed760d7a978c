"""The library's server for one request: its request and answer objects, and what it asks for."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from authlib.oauth2 import AuthorizationServer, JsonRequest, OAuth2Request
from authlib.oauth2.rfc6749 import OAuth2Error
from authlib.oauth2.rfc6749.errors import InvalidRequestError, InvalidScopeError
from authlib.oauth2.rfc6749.requests import OAuth2Payload
from authlib.oauth2.rfc6750 import BearerTokenGenerator
from authlib.oauth2.rfc9207 import IssuerParameter

from app.features.oauth.provider import queries
from app.features.oauth.provider.clients import STATIC, Client, is_document_id
from app.gate.policy import Role, Scope

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

    from app.features.oauth.schemas import ClientRow, Lineage
    from app.features.oauth.targets import Targets

SCOPES = tuple(scope.value for scope in Scope)
TOLERATED = frozenset({"offline_access"})
"""Asked for by clients that want refresh tokens, which every client gets."""

_TOKEN_BYTES = 32
_PLACE = "https://authorization-server.invalid"  # TLS ends before us: what is judged is the configured address


class InvalidTargetError(OAuth2Error):  # type: ignore[misc]
    """RFC 8707 section 2: the resource is unknown, or not what the grant is for."""

    error = "invalid_target"


def digest(text: str) -> bytes:
    """Digest a code or token: a fast hash is right for 256 bits of randomness."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()


def new_secret(prefix: str) -> str:
    """Make a code or token; the prefix lets scanners find one that leaked."""
    return prefix + secrets.token_urlsafe(_TOKEN_BYTES)


class Payload(OAuth2Payload):  # type: ignore[misc]
    """The parameters of a request; one that is sent twice is refused elsewhere, so that the first may stand here."""

    def __init__(self, pairs: Sequence[tuple[str, str]]) -> None:
        self.pairs = pairs
        self._lists: dict[str, list[str]] = {}
        for name, value in pairs:
            self._lists.setdefault(name, []).append(value)

    @property
    def data(self) -> dict[str, str]:
        """Each parameter once."""
        return {name: values[0] for name, values in self._lists.items()}

    @property
    def datalist(self) -> dict[str, list[str]]:
        """Every value of each parameter."""
        return self._lists


class Request(OAuth2Request):  # type: ignore[misc]
    """A request that was read before the library sees it."""

    def __init__(self, method: str, pairs: Sequence[tuple[str, str]], headers: Mapping[str, str]) -> None:
        super().__init__(method, _PLACE, headers=headers)
        self.payload = Payload(pairs)
        self.line: Lineage | None = None
        self.resource = ""

    @property
    def form(self) -> dict[str, str]:
        """The parameters, by the library's other name for them."""
        return self.payload.data


class Json(JsonRequest):  # type: ignore[misc]
    """A registration request."""

    def __init__(self, method: str, body: dict[str, Any], headers: Mapping[str, str], client_id: str = "") -> None:
        super().__init__(method, _PLACE, headers)
        self.payload = _JsonPayload(body)
        self.client_id = client_id
        self.client: Client | None = None
        self.credential: Any = None


@dataclass(frozen=True)
class _JsonPayload:
    data: dict[str, Any]


@dataclass
class Answer:
    """What the library answers: a status, a document or nothing, and headers."""

    status: int
    body: Any
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def location(self) -> str:
        """Where the browser is sent, if anywhere."""
        return self.headers.get("Location", "")

    @location.setter
    def location(self, value: str) -> None:
        self.headers["Location"] = value


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for all requests: who issues, for what, and for how long."""

    issuer: str
    targets: Targets
    access_seconds: int
    refresh_seconds: int


class _Issuer(IssuerParameter):  # type: ignore[misc]
    def __init__(self, issuer: str) -> None:
        self._issuer = issuer

    def get_issuer(self) -> str:
        return self._issuer


class Server(AuthorizationServer):  # type: ignore[misc]
    """The library's server on the connection of one request."""

    def __init__(self, connection: Connection, terms: Terms, documents: Sequence[ClientRow] = ()) -> None:
        super().__init__(scopes_supported=[*SCOPES, *TOLERATED])
        self.connection = connection
        self.terms = terms
        self._documents = {row.client_id: row for row in documents}
        self.register_extension(_Issuer(terms.issuer))
        generator = BearerTokenGenerator(
            lambda **_: new_secret("ctxa_"), lambda **_: new_secret("ctxr_"), terms.access_seconds
        )
        self.register_token_generator("default", generator)

    def query_client(self, client_id: str) -> Client | None:
        """Find a client: ours, one described by a document that was fetched before, or a registered one."""
        if not (client_id.isascii() and client_id.isprintable()):
            return None
        row = STATIC.get(client_id) or self._documents.get(client_id)
        if row is None and not is_document_id(client_id):
            row = queries.get_client(self.connection, client_id)
            row = row if row is not None and row.fresh and row.kind == "registered" else None
        return Client(row) if row else None

    def create_oauth2_request(self, request: Request) -> Request:
        """Take the request that was read already."""
        return request

    def create_json_request(self, request: Json) -> Json:
        """Take the request that was read already."""
        return request

    def handle_response(self, status: int, body: Any, headers: Sequence[tuple[str, str]]) -> Answer:
        """Take the library's answer; a browser is sent on by GET."""
        return Answer(303 if status == 302 else status, body, dict(headers))  # noqa: PLR2004

    def send_signal(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Tell nobody."""

    def redirected(self, request: Request, error: OAuth2Error) -> Answer:
        """Send an error to the client's address, with `iss` as any other answer (RFC 9207)."""
        error.state = request.payload.state
        answer: Answer = self.handle_error_response(request, error)
        _Issuer(self.terms.issuer).add_issuer_parameter(self, answer)
        return answer

    def save_token(self, token: dict[str, Any], request: Request) -> None:
        """Keep the digests of what is given out, and answer the scope that it is good for."""
        line = request.line
        assert line is not None
        held = {"access": token["access_token"], "refresh": token.get("refresh_token")}
        narrowed = narrow(line.scopes, request.payload.scope)
        for kind, text, seconds, scopes in (
            ("access", held["access"], self.terms.access_seconds, narrowed),
            ("refresh", held["refresh"], self.terms.refresh_seconds, line.scopes),
        ):
            if text is not None:
                queries.insert_token(self.connection, digest(text), kind, line, scopes, seconds)
        queries.touch_client(self.connection, line.client_id, self.terms.refresh_seconds)
        token["scope"] = " ".join(scope for scope in narrowed if scope in Role(line.role).scopes)

    def target(self, request: Request, granted: str | None = None) -> str:
        """Give the resource that a request is for.

        Raises:
            InvalidTargetError: it is unknown, or not the one that was granted.
        """
        named = request.payload.datalist.get("resource", [])
        found = self.terms.targets.find(named) if named or granted is None else granted
        if found is None:
            known = " ".join(self.terms.targets.url + path for path in self.terms.targets.paths)
            raise InvalidTargetError(f"Unknown resource. The resources of this service are: {known}")
        if granted is not None and found != granted:
            raise InvalidTargetError(f"This grant is for {granted}")
        return found


def wanted_scopes(text: str | None) -> tuple[str, ...]:
    """Read what a client asks for; nothing named means everything that the person may do.

    Raises:
        InvalidScopeError: an unknown scope.
    """
    named = [scope for scope in (text or "").split(" ") if scope and scope not in TOLERATED]
    if any(scope not in SCOPES for scope in named):
        raise InvalidScopeError(f"Known scopes: {' '.join(SCOPES)}")
    return tuple(scope for scope in SCOPES if scope in named) or SCOPES


def narrow(granted: tuple[str, ...], asked: str | None) -> tuple[str, ...]:
    """Keep of a grant what a token request names; the library has checked that it names no more."""
    named = [scope for scope in (asked or "").split() if scope not in TOLERATED]
    return tuple(scope for scope in granted if scope in named) if named else granted


_SINGLE = (
    "response_type",
    "client_id",
    "redirect_uri",
    "scope",
    "state",
    "code_challenge",
    "code_challenge_method",
    "prompt",
    "grant_type",
    "code",
    "code_verifier",
    "refresh_token",
    "client_secret",
    "device_code",
    "token",
)
_MAX_VALUE = 4096


def check_parameters(request: Request) -> None:
    """Refuse what the library would stumble over.

    Raises:
        InvalidRequestError: a parameter is sent twice, is too long, or holds characters that none may hold.
    """
    for name, values in request.payload.datalist.items():
        if name in _SINGLE and len(values) > 1:
            raise InvalidRequestError(f"Multiple '{name}' in request.")
        for value in values:
            if len(value) > _MAX_VALUE or any(character < " " or character == "\x7f" for character in value):
                raise InvalidRequestError("A parameter is too long or holds control characters.")
            if name in _SINGLE and name != "state" and not (value.isascii() and not set(value) & set('"\\')):
                raise InvalidRequestError("A parameter holds characters outside of its alphabet.")
