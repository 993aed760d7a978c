"""The programs' side of the authorization server: metadata, token, registration, revocation and their like."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import pydantic_core
from starlette.responses import Response

from app.edge import errors
from app.edge.asgi import ClientGone, header, printable, read_body
from app.edge.rest.raw import Raw
from app.edge.revalidation import revalidated
from app.edge.web.page import gate_of, web_of
from app.features.oauth.provider.server import Json, Request
from app.features.oauth.wire import oauth_of
from app.gate.policy import Limit
from app.kit.errors import AppError, InvalidRequest, NotFound, UnsupportedMediaType

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request as HttpRequest

    from app.features.oauth.provider.server import Answer

log = logging.getLogger(__name__)
WELL_KNOWN = "/.well-known/oauth-authorization-server"
_MAX_FORM = 32 * 1024
_MAX_REGISTRATION = 16 * 1024
_MAX_FIELDS = 50
_FORM = "application/x-www-form-urlencoded"
_NO_STORE = {"cache-control": "no-store", "pragma": "no-cache"}

RATES = {"token": Limit(600, 60), "register": Limit(300, 3600), "none": None}
"""How often one address may call; wide, since one address may be the back end of many people's client."""

_WORDS = {429: "slow_down", 503: "temporarily_unavailable", 500: "server_error"}


def _sent(answer: Answer) -> Response:
    body = answer.body if isinstance(answer.body, str) else pydantic_core.to_json(answer.body)
    headers = {name.lower(): printable(value) for name, value in answer.headers.items()} | _NO_STORE
    headers.pop("content-type", None)
    return Response(body, answer.status, headers, media_type="application/json" if body else None)


def _refused(error: AppError) -> Response:
    """Answer a refusal of ours in the form of RFC 6749 section 5.2."""
    status = errors.status_of(error)
    body = {"error": _WORDS.get(status, "invalid_request"), "error_description": error.message}
    headers = _NO_STORE | ({"retry-after": str(error.retry_after)} if error.retry_after is not None else {})
    return Response(pydantic_core.to_json(body), status, headers, media_type="application/json")


def _raw(path: str, endpoint: Callable[[HttpRequest], Awaitable[Response]], why: str, rate: str, *methods: str) -> Raw:
    """Declare a wire that counts by address and answers refusals as OAuth does."""

    async def answer(request: HttpRequest) -> Response:
        try:
            oauth_of(request)
            limit = RATES[rate]
            if limit is not None:
                subject = web_of(request).addresses.subject(request.scope)
                await gate_of(request).limit(f"address:{subject}", f"oauth-{rate}", limit)
            return await endpoint(request)
        except AppError as error:
            return _refused(error)
        except ClientGone:
            raise
        except Exception:
            request_id = request.scope["request_id"]
            log.exception("unexpected error", extra={"request_id": request_id})
            return _refused(errors.internal(request_id))

    return Raw(path, answer, why=why, rate=rate, methods=methods or ("POST",))


async def _form(request: HttpRequest) -> Request:
    if (header(request.scope, b"content-type") or "").split(";")[0].strip().lower() != _FORM:
        raise UnsupportedMediaType(f"Send the request as {_FORM}.")
    if request.url.query:
        raise InvalidRequest("Parameters belong into the body, not into the address.")
    body = await read_body(request.scope, request.receive, _MAX_FORM)
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=False, errors="strict", max_num_fields=_MAX_FIELDS)
    except ValueError as error:
        raise InvalidRequest("The form cannot be read.") from error
    return Request(request.method, pairs, request.headers)


async def _json(request: HttpRequest) -> dict[str, Any]:
    if (header(request.scope, b"content-type") or "").split(";")[0].strip().lower() != "application/json":
        raise UnsupportedMediaType("Send the registration as application/json.")
    body = await read_body(request.scope, request.receive, _MAX_REGISTRATION)
    try:
        found = pydantic_core.from_json(body)
    except ValueError as error:
        raise InvalidRequest("The registration is not valid JSON.") from error
    if not isinstance(found, dict) or not found:
        raise InvalidRequest("The registration must be a JSON object.")
    return found


async def token(request: HttpRequest) -> Response:
    """Give tokens for a code, a refresh token or a device code."""
    return _sent(await oauth_of(request).token(await _form(request)))


async def revoke(request: HttpRequest) -> Response:
    """End a token and what belongs to it."""
    return _sent(await oauth_of(request).endpoint("revocation", await _form(request)))


async def introspect(request: HttpRequest) -> Response:
    """Tell a client about its token."""
    return _sent(await oauth_of(request).endpoint("introspection", await _form(request)))


async def device_authorization(request: HttpRequest) -> Response:
    """Begin a device's request."""
    return _sent(await oauth_of(request).endpoint("device_authorization", await _form(request)))


async def register(request: HttpRequest) -> Response:
    """Register a client."""
    return _sent(await oauth_of(request).register(Json("POST", await _json(request), request.headers)))


async def configure(request: HttpRequest) -> Response:
    """Read, change or delete a registration."""
    body = await _json(request) if request.method == "PUT" else {}
    client_id = request.path_params["client_id"]
    return _sent(await oauth_of(request).register(Json(request.method, body, request.headers, client_id)))


async def metadata(request: HttpRequest) -> Response:
    """Describe the authorization server; clients look at several addresses, which all answer the same."""
    oauth = oauth_of(request)
    below = request.path_params.get("path")
    if below is not None and f"/{below}" not in oauth.terms.targets.paths:
        raise NotFound("Nothing is served at this path.")
    body = pydantic_core.to_json(oauth.metadata)
    kept = Response(body, headers={"cache-control": "public, max-age=300"}, media_type="application/json")
    return revalidated(request, kept)


_READ = "describes the server to programs that have no credential yet"
_SPOKEN = "speaks the form of its RFC, and is called by programs that have no credential yet"
ROUTES = [
    _raw(WELL_KNOWN, metadata, _READ, "none", "GET"),
    _raw(f"{WELL_KNOWN}/{{path:path}}", metadata, _READ, "none", "GET"),
    _raw(f"/{{path:path}}{WELL_KNOWN}", metadata, _READ, "none", "GET"),
    _raw("/oauth/token", token, _SPOKEN, "token"),
    _raw("/oauth/revoke", revoke, _SPOKEN, "token"),
    _raw("/oauth/introspect", introspect, _SPOKEN, "token"),
    _raw("/oauth/device_authorization", device_authorization, _SPOKEN, "token"),
    _raw("/oauth/register", register, _SPOKEN, "register"),
    _raw("/oauth/register/{client_id}", configure, _SPOKEN, "token", "GET", "PUT", "DELETE"),
]
