"""What stands before the SDK: origin, method, credential, size, one JSON-RPC message, and who may call what."""

from __future__ import annotations

import functools
import logging
from typing import TYPE_CHECKING, Any

from mcp_types import UNSUPPORTED_PROTOCOL_VERSION
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from app.edge import errors
from app.edge.asgi import ClientGone, header, read_body, send_bytes
from app.edge.mcp import listening
from app.edge.mcp.rpc import ADDED_HEADERS, CREDENTIAL, INTERNAL_ERROR, INVALID_REQUEST, Message, Refused
from app.gate.gate import Credential
from app.gate.policy import Limit
from app.gate.principal import CredentialKind, Principal
from app.gate.refusals import insufficient
from app.kit.errors import AppError, PayloadTooLarge, RateLimited, Unauthenticated, UnsupportedMediaType

if TYPE_CHECKING:
    from app.edge.asgi import Headers, Receive, Scope, Send
    from app.edge.asgi import Message as AsgiMessage
    from app.edge.discovery.protected_resource import ProtectedResource
    from app.edge.mcp.endpoint import Endpoint
    from app.edge.mcp.origin import Origins
    from app.edge.mcp.surface import Surface
    from app.gate.gate import Gate

log = logging.getLogger(__name__)
_ALLOW = (b"allow", b"POST, OPTIONS")
_JSON = (b"content-type", b"application/json")
_ANONYMOUS_BYTES = 64 * 1024
"""Discovery needs a few hundred; a larger body is only read for somebody who is known."""
_ANONYMOUS = Limit(600, 60)
"""Discovery of one address; wide, since one address may be the back end of many people's client."""
_VERSIONS = (*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS)
_JSON_KINDS = ("application/json", "application/*", "*/*")


class Guard:
    """The ASGI endpoint of a surface."""

    def __init__(
        self,
        surface: Surface,
        inner: Endpoint,
        *,
        origins: Origins,
        resource: ProtectedResource,
        body_limit: int,
    ) -> None:
        self._surface = surface
        self._inner = inner
        self._origins = origins
        self._resource = resource
        self._limit = body_limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or pass on one request."""
        message: Message | None = None
        try:
            self._origins.check(scope, any_origin=self._surface.open)
            if scope["method"] == "OPTIONS":
                await send_bytes(send, 204, [_ALLOW], b"")
                return
            _check_post(scope)
            scope = {**scope, "headers": _normalised(scope)}
            caller = await self._identify(scope)
            body, message = await self._read(scope, receive, caller)
            _check_version(scope)
            self._authorize(scope, message, caller)
            listening.check_accepts(scope, message.method)
            if caller is None:
                await self._count(scope)
        except ClientGone:
            return
        except Refused as refusal:
            await _refuse(send, refusal, message)
            return
        except Exception:
            log.exception("unexpected error", extra={"request_id": scope["request_id"]})
            await _refuse(send, Refused(500, INTERNAL_ERROR, errors.internal(scope["request_id"]).message), message)
            return
        if (listed := self._inner.listing.answer(scope, message)) is not None:
            await send_bytes(send, 200, [_JSON], listed)
            return
        added: Headers = []
        scope[ADDED_HEADERS] = added
        await self._inner.serve(scope, _replayed(body, receive), _adding(added, send), message)

    async def _identify(self, scope: Scope) -> Principal | AppError | None:
        """Resolve the credential; an error is kept until the message's id is known, None means anonymous."""
        credential = Credential(
            header(scope, b"authorization"),
            header(scope, b"x-agent-id"),
            resource=self._resource.url,
            client=header(scope, b"user-agent"),
            address=functools.partial(scope["app"].state.web.addresses.subject, scope),
        )
        scope[CREDENTIAL] = credential
        if credential.authorization is None or self._surface.open:
            return None
        gate: Gate = scope["app"].state.gate
        try:
            return await gate.authenticate(credential)
        except AppError as error:
            return error

    async def _read(self, scope: Scope, receive: Receive, caller: Principal | AppError | None) -> tuple[bytes, Message]:
        """Read the message; a refused credential outranks whatever is wrong with it."""
        known = isinstance(caller, Principal)
        try:
            body = await read_body(scope, receive, self._limit if known else min(self._limit, _ANONYMOUS_BYTES))
            return body, Message.read(body)
        except (PayloadTooLarge, UnsupportedMediaType) as error:
            # What is too large for nobody may do for somebody who is known.
            self._refuse_caller(scope, caller, wanted=True if isinstance(error, PayloadTooLarge) else None)
            raise Refused.by(error, scope["request_id"], self._resource, INVALID_REQUEST) from error
        except Refused:
            self._refuse_caller(scope, caller)
            raise

    def _authorize(self, scope: Scope, message: Message, caller: Principal | AppError | None) -> None:
        self._refuse_caller(scope, caller, wanted=self._surface.needs_credential(message.method, message.text("uri")))
        if not isinstance(caller, Principal) or caller.kind is not CredentialKind.OAUTH:
            return
        operation = self._surface.operation(message.method, message.text("name"), message.text("uri"))
        if operation is not None and operation.lacking(caller.scopes):
            error = insufficient(operation, caller)
            raise Refused.by(error, scope["request_id"], self._resource)

    async def _count(self, scope: Scope) -> None:
        """Count a call of nobody by its address."""
        gate: Gate = scope["app"].state.gate
        subject = scope["app"].state.web.addresses.subject(scope)
        try:
            await gate.limit(f"address:{subject}", "anonymous", _ANONYMOUS)
        except RateLimited as error:
            raise Refused.by(error, scope["request_id"], self._resource) from error

    def _refuse_caller(self, scope: Scope, caller: Principal | AppError | None, *, wanted: bool | None = None) -> None:
        if wanted is None:
            wanted = self._surface.authenticated
        if caller is None and wanted:
            msg = "This needs a credential: `Authorization: API-Key <key>`, or an OAuth token for this resource."
            caller = Unauthenticated(msg)
        if isinstance(caller, Unauthenticated | RateLimited) or (
            isinstance(caller, AppError) and self._surface.authenticated
        ):
            raise Refused.by(caller, scope["request_id"], self._resource)


def _check_post(scope: Scope) -> None:
    if scope["method"] != "POST":
        msg = "This endpoint takes POST only: each request stands alone, and nothing is pushed."
        raise Refused(405, INVALID_REQUEST, msg, headers=[_ALLOW])
    media_type = (header(scope, b"content-type") or "").split(";")[0].strip().lower()
    if media_type != "application/json":
        raise Refused(415, INVALID_REQUEST, "Send `Content-Type: application/json`.")


def _check_version(scope: Scope) -> None:
    """Refuse a revision that nobody here speaks, and name those that are (2026-07-28, basic/transports).

    `supported` are those of `server/discover`, as the protocol has it; the earlier ones, which have no discovery, stand
    in the message.
    """
    version = header(scope, b"mcp-protocol-version")
    if version is None or version in _VERSIONS:
        return
    msg = f"Unsupported protocol version; this service speaks {', '.join(_VERSIONS)}."
    told = {"supported": list(MODERN_PROTOCOL_VERSIONS), "requested": version}
    raise Refused(400, UNSUPPORTED_PROTOCOL_VERSION, msg, data=told)


def _normalised(scope: Scope) -> Headers:
    """Drop optional whitespace around MCP's own headers, which one server parser leaves in; no `Accept` takes JSON."""
    headers = [(name, value.strip(b" \t") if name.startswith(b"mcp-") else value) for name, value in scope["headers"]]
    accept = header(scope, b"accept")
    if not accept:
        return [*(item for item in headers if item[0] != b"accept"), (b"accept", b"application/json")]
    if not any(kind in accept.lower() for kind in _JSON_KINDS):
        raise Refused(406, INVALID_REQUEST, "Answers are JSON; send `Accept: application/json, text/event-stream`.")
    return headers


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Give the body once, then the connection's own messages, so that a disconnect is still seen."""
    messages: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Any:
        return messages.pop() if messages else await receive()

    return again


def _adding(added: Headers, send: Send) -> Send:
    """Put what the handlers left in `added` among the response's headers."""

    async def send_all(message: AsgiMessage) -> None:
        if added and message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *added]
        await send(message)

    return send_all


async def _refuse(send: Send, refusal: Refused, message: Message | None) -> None:
    if message is not None:
        refusal.message_id = message.id
    await send_bytes(send, refusal.status, refusal.headers, refusal.body())
