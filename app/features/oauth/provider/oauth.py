"""What the wires ask of the authorization server: each call is one transaction on one connection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from authlib.oauth2.rfc6749 import OAuth2Error
from authlib.oauth2.rfc6749.errors import InvalidClientError, InvalidRequestError, UnsupportedResponseTypeError
from authlib.oauth2.rfc6749.util import extract_basic_authorization
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from app.features.oauth.provider import metadata, queries
from app.features.oauth.provider.clients import Client, is_document_id
from app.features.oauth.provider.endpoints import DeviceAuthorization, Introspection, Revocation
from app.features.oauth.provider.grants import CodeGrant, DeviceGrant, Pkce, RefreshGrant
from app.features.oauth.provider.registration import Configuration, Registration
from app.features.oauth.provider.server import Answer, Json, Request, Server, check_parameters, wanted_scopes
from app.kit.errors import InvalidRequest, Unavailable
from app.kit.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from uuid import UUID

    from sqlalchemy import Connection
    from sqlalchemy.ext.asyncio import AsyncEngine

    from app.features.oauth.provider.documents import Documents
    from app.features.oauth.provider.server import Terms
    from app.features.oauth.redirects import Redirect
    from app.features.oauth.schemas import Approval, ClientRow, Consent, DeviceRow
    from app.store.postgres import Database

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Asked:
    """A valid authorization request, before anybody has decided on it."""

    client: Client
    redirect: Redirect
    resource: str
    scopes: tuple[str, ...]
    prompts: frozenset[str]


class OAuth:
    """The authorization server of one process."""

    def __init__(self, terms: Terms, engine: AsyncEngine, database: Database, documents: Documents) -> None:
        self.terms = terms
        self.database = database
        self.metadata = metadata.document(terms)
        self._engine = engine
        self._documents = documents

    # -- programs ---------------------------------------------------------------------------------------------------

    async def token(self, request: Request) -> Answer:
        """Answer a token request."""
        return await self._answer(request, lambda server: server.create_token_response(request))

    async def endpoint(self, name: str, request: Request) -> Answer:
        """Answer a request to revoke, introspect, or begin with a device."""
        return await self._answer(request, lambda server: server.create_endpoint_response(name, request))

    async def register(self, request: Json) -> Answer:
        """Register a client, or manage one."""
        name = Configuration.ENDPOINT_NAME if request.client_id else Registration.ENDPOINT_NAME
        return await self._run(lambda server: server.create_endpoint_response(name, request))

    async def _answer(self, request: Request, ask: Callable[[Server], Answer]) -> Answer:
        sound, client_id = _basic(request.headers)
        documents = await self._described(client_id or request.payload.client_id, stale_will_do=True)

        def call(server: Server) -> Answer:
            try:
                if not sound:
                    raise InvalidClientError("The Authorization header cannot be read.", status_code=401)
                check_parameters(request)
                return ask(server)
            except OAuth2Error as error:
                answer: Answer = server.handle_error_response(request, error)
                return answer

        return await self._run(call, documents)

    # -- people -----------------------------------------------------------------------------------------------------

    async def check(self, pairs: Sequence[tuple[str, str]]) -> Asked | Answer:
        """Judge an authorization request; an error that the client may hear is an answer to it.

        Raises:
            InvalidRequest: client or address are wrong, so that nobody may be sent anywhere.
        """
        request = Request("GET", pairs, {})
        documents = await self._described(request.payload.client_id)

        def call(server: Server) -> Asked | Answer:
            client, redirect = _sound(server, request)
            try:
                grant = _authorization(server, request)
                return Asked(
                    client=client,
                    redirect=redirect,
                    resource=grant.request.resource,
                    scopes=wanted_scopes(request.payload.scope),
                    prompts=frozenset((request.payload.data.get("prompt") or "").split()),
                )
            except OAuth2Error as error:
                error.redirect_uri = redirect.uri
                return server.redirected(request, error)

        return await self._run(call, documents)

    async def decide(self, pairs: Sequence[tuple[str, str]], approval: Approval | None) -> Answer:
        """Answer the client with a code, or with the person's refusal (`approval=None`)."""
        request = Request("POST", pairs, {})
        documents = await self._described(request.payload.client_id)

        def call(server: Server) -> Answer:
            _, redirect = _sound(server, request)
            try:
                grant = _authorization(server, request)
            except OAuth2Error as error:
                error.redirect_uri = redirect.uri
                return server.redirected(request, error)
            answer: Answer = server.create_authorization_response(request, approval, grant)
            return answer

        return await self._run(call, documents)

    async def refuse(self, pairs: Sequence[tuple[str, str]], redirect: Redirect, error: str) -> Answer:
        """Send an error of the OpenID kind (`login_required`, `consent_required`) to a client."""
        request = Request("GET", pairs, {})
        return await self._run(
            lambda server: server.redirected(request, OAuth2Error(error=error, redirect_uri=redirect.uri))
        )

    async def consent(self, asked: Asked, user_id: UUID) -> Consent | None:
        """Find an earlier consent to the same client, answered at the same origin, for the resource and scopes."""
        origin = asked.redirect.origin
        return await self._on_connection(
            lambda connection: queries.find_consent(
                connection,
                user_id,
                asked.client.client_id,
                resource=asked.resource,
                answers_to=origin,
                scopes=asked.scopes,
            )
        )

    async def device(self, user_code: str) -> DeviceRow | None:
        """Find a device's request that waits for an answer."""
        row = await self._on_connection(lambda connection: queries.get_device(connection, user_code))
        return row if row is not None and not (row.expired or row.denied or row.used or row.grant_id) else None

    async def decide_device(self, row: DeviceRow, approval: Approval | None) -> bool:
        """Answer a device's request; False when it was answered or ended meanwhile."""

        def call(connection: Connection) -> bool:
            grant_id = new_id() if approval is not None else None
            if approval is not None and grant_id is not None:
                name, resource = row.client_name, row.resource
                if not queries.insert_grant(connection, grant_id, approval, row.client_id, name, resource=resource):
                    return False
            if queries.answer_device(connection, row.user_code, grant_id):
                return True
            connection.rollback()
            return False

        return await self._on_connection(call)

    # -- transactions -----------------------------------------------------------------------------------------------

    async def _described(self, client_id: str | None, *, stale_will_do: bool = False) -> list[ClientRow]:
        """Fetch the client's document before a connection is taken, if its id is an address."""
        if not client_id or not is_document_id(client_id):
            return []
        row = await self._documents.load(client_id, stale_will_do=stale_will_do)
        return [row] if row is not None else []

    async def _run(self, call: Callable[[Server], T], documents: Sequence[ClientRow] = ()) -> T:
        return await self._on_connection(lambda connection: call(_server(connection, self.terms, documents)))

    async def _on_connection(self, call: Callable[[Connection], T]) -> T:
        try:
            async with self._engine.connect() as connection:
                found = await connection.run_sync(call)
                await connection.commit()
                return found
        except (SQLAlchemyError, OSError, TimeoutError) as error:
            if isinstance(error, DBAPIError) and not error.connection_invalidated and not _is_passing(error):
                raise
            raise Unavailable("The database cannot serve this just now; retry.", retry_after=1) from error


def _is_passing(error: DBAPIError) -> bool:
    """Tell whether an error will pass: no connection, a collision, a shutdown."""
    state = getattr(error.orig, "sqlstate", None) or ""
    return state[:2] in {"08", "40", "53", "57"}


def _server(connection: Connection, terms: Terms, documents: Sequence[ClientRow]) -> Server:
    server = Server(connection, terms, documents)
    server.register_grant(CodeGrant, [Pkce(required=True)])
    server.register_grant(RefreshGrant)
    server.register_grant(DeviceGrant)
    for endpoint in (Revocation, Introspection, DeviceAuthorization, Registration, Configuration):
        server.register_endpoint(endpoint)
    return server


def _sound(server: Server, request: Request) -> tuple[Client, Redirect]:
    """Find the client and the address that it may be answered at.

    Raises:
        InvalidRequest: either is missing, unknown or ambiguous; the person is told, and sent nowhere.
    """
    names = request.payload.datalist
    if any(len(names.get(name, [])) > 1 for name in ("client_id", "redirect_uri")):
        raise InvalidRequest("The app sent its address twice. Close this page and start again from the app.")
    client_id = request.payload.client_id
    client = server.query_client(client_id) if client_id is not None else None
    if client is None:
        raise InvalidRequest(
            "The app that sent you here is not known to this service, or its description could not be read. "
            "Start again from the app; it may have to register anew."
        )
    redirect = client.redirect(request.payload.redirect_uri)
    if redirect is None:
        raise InvalidRequest("The app asks to be answered at an address that is not its own. Nothing was allowed.")
    return client, redirect


def _authorization(server: Server, request: Request) -> Any:
    """Let the library judge the rest of an authorization request."""
    check_parameters(request)
    if request.payload.response_type is None:
        raise InvalidRequestError("Missing 'response_type' in request.")
    if request.payload.response_type != "code":
        raise UnsupportedResponseTypeError("code", "The only response_type is code.")
    return server.get_consent_grant(request)


def _basic(headers: Mapping[str, str]) -> tuple[bool, str | None]:
    """Read the client's id from an `Authorization` header; False when the header makes no sense."""
    try:
        client_id, _ = extract_basic_authorization(headers)
    except ValueError:
        return False, None
    return True, client_id
