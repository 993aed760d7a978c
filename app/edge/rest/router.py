"""Routes that are operations: admitted before the body is read, answered after the commit."""

from __future__ import annotations

import functools
import logging
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from starlette.responses import JSONResponse, Response
from starlette.routing import Match

from app.edge import errors
from app.edge.asgi import ClientGone, Headers, header, send_bytes, send_stream
from app.edge.rest.binding import BODY_METHODS, Binding
from app.edge.web.web import SESSION_COOKIE
from app.gate.arguments import parse_args
from app.gate.gate import Credential, Gate
from app.gate.principal import CredentialKind
from app.kit.errors import AppError, CrossSite, InvalidRequest, Kind
from app.kit.revision import matches_any
from app.kit.schema import Binary, FromHeader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from app.edge.asgi import Receive, Scope, Send
    from app.edge.discovery.protected_resource import ProtectedResource
    from app.edge.web.web import Web
    from app.gate.gate import Admission, Answer
    from app.gate.operation import Operation

log = logging.getLogger(__name__)
_JSON = (b"content-type", b"application/json")
# What is told of a text's hand depends on who asks, so a cache that two callers share must ask for each.
_PRIVATE = [(b"cache-control", b"private, no-cache"), (b"vary", b"authorization, cookie")]
_NO_STORE = (b"cache-control", b"no-store")
_NOT_MODIFIED = 304
_ALWAYS_POSSIBLE = frozenset({400, 401, 403, 429, 500, 503})


class ErrorObject(BaseModel):
    """Why a request was refused."""

    model_config = ConfigDict(alias_generator=to_camel)
    code: int = Field(description="The HTTP status.")
    reason: str = Field(description="A stable word for programs.")
    message: str = Field(description="What happened and what to do next, for people and models.")
    details: Any = Field(description="More for programs; null when there is nothing more.")
    request_id: str


class ErrorBody(BaseModel):
    """The error envelope."""

    error: ErrorObject


@dataclass(frozen=True, slots=True)
class Rest:
    """One REST face: method, path below the origin, status of success; `location` builds the path of what was made."""

    method: str
    path: str
    operation: Operation[Any, Any]
    status: int = 200
    core: bool = True
    """Whether it is one of the 35 operations of the core contract."""
    location: Callable[[Any], str] | None = None


class OperationRoute(APIRoute):
    """A FastAPI route (for matching and OpenAPI) whose request is served by the gate."""

    def __init__(self, face: Rest, *, resource: ProtectedResource, body_limit: int) -> None:
        self.face = face
        self._resource = resource
        self._limit = body_limit
        operation = face.operation
        self.binding = Binding(operation.args, face.path, face.method)
        super().__init__(
            face.path,
            _described(self.binding, operation),
            methods=[face.method],
            status_code=face.status,
            response_model=None if operation.result in (type(None), Binary) or _file(operation) else operation.result,
            response_class=Response if operation.result is Binary else JSONResponse,
            operation_id=operation.name.replace(".", "_"),
            summary=operation.summary,
            description=operation.description,
            tags=[operation.name.split(".", 1)[0]],
            responses=_responses(operation, face),
            openapi_extra=_extra(operation, face),
        )
        self.narrower: list[re.Pattern[str]] = []
        """Paths of other routes that this one's pattern takes, too, and that are served there alone."""
        self.app = self._serve

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Tell whether the route serves a request: not one whose path another route names more narrowly."""
        found = super().matches(scope)
        if found[0] is not Match.NONE and any(path.match(scope["path"]) for path in self.narrower):
            return Match.NONE, {}
        return found

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        request_id = scope["request_id"]
        admission: Admission | None = None
        gate: Gate = scope["app"].state.gate
        try:
            admission = await gate.admit(
                self.face.operation, _credential(scope, self.face.operation, self._resource.url)
            )
            raw = await self.binding.read(scope, receive, self._limit)
            key = _idempotency_key(scope, self.face)
            args = parse_args(self.face.operation.args, raw)
            answer = await gate.run(admission, self.face.operation, args, request_id=request_id, idempotency_key=key)
        except AppError as error:
            await self._refuse(send, error, admission, request_id)
        except ClientGone:
            return
        except Exception:
            log.exception("unexpected error", extra={"request_id": request_id})
            await self._refuse(send, errors.internal(request_id), admission, request_id)
        else:
            await self._answer(scope, send, admission, answer)

    async def _answer(self, scope: Scope, send: Send, admission: Admission, answer: Answer[Any]) -> None:
        headers: Headers = errors.rate_headers(admission.rate)
        status = self.face.status
        tag: str | None = getattr(answer.result, "etag", None)
        if tag is not None:
            headers.append((b"etag", tag.encode()))
        if answer.replayed:
            headers.append((b"idempotency-replayed", b"true"))
        if self.face.location is not None:
            headers.append((b"location", self.face.location(answer.result).encode()))
        headers += _PRIVATE if self.face.method == "GET" else [_NO_STORE]
        if (chunks := getattr(answer.result, "chunks", None)) is not None:
            headers += _file_headers(answer.result)
            await send_stream(send, status, headers, chunks)
            return
        body = answer.body
        if tag is not None and getattr(answer.result, "final", True) and _unchanged(scope, tag):
            status, body = _NOT_MODIFIED, b""
        elif isinstance(answer.result, Binary):
            headers.extend(answer.result.headers)
        elif body:
            headers.append(_JSON)
        await send_bytes(send, status, headers, body)

    async def _refuse(self, send: Send, error: AppError, admission: Admission | None, request_id: str) -> None:
        headers: Headers = [_JSON, _NO_STORE, *errors.error_headers(error, self._resource)]
        if admission is not None:
            headers.extend(errors.rate_headers(admission.rate))
        await send_bytes(send, errors.status_of(error), headers, errors.envelope(error, request_id))


def yield_to_narrower(routes: Sequence[OperationRoute]) -> None:
    """Keep the fixed words of paths from being read as ids by any method: `GET /v1/documents/upload` is a 405."""
    patterns = {route.path: route.path_regex for route in routes}
    for route in routes:
        route.narrower = [
            pattern
            for path, pattern in patterns.items()
            if route.path_regex.match(path) and not pattern.match(route.path)
        ]


class OperationsFirst:
    """Reach operations and surfaces without the framework's layers: they answer their own errors. Else: to `rest`.

    Routes are filed by method, number of segments and first word, so that a request tries few patterns however many
    routes there are. What this table does not find, the framework's router decides, which knows the same routes.
    """

    def __init__(self, routes: Iterable[OperationRoute], surfaces: Mapping[str, Any], rest: Any) -> None:
        self._rest = rest
        self._surfaces = surfaces
        self._routes: dict[tuple[str, int, str], list[OperationRoute]] = {}
        for route in routes:
            self._routes.setdefault(_shape(route.face.method, route.path), []).append(route)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] == "http":
            if (surface := self._surfaces.get(scope["path"])) is not None:
                await surface(scope, receive, send)
                return
            if scope["method"] == "HEAD":  # answered like GET; the server leaves the body out (RFC 9110 section 9.3.2)
                scope = {**scope, "method": "GET", "head": True}
            for route in self._routes.get(_shape(scope["method"], scope["path"]), ()):
                match, found = route.matches(scope)
                if match is Match.FULL:
                    scope.update(found)
                    await route.app(scope, receive, send)
                    return
        await self._rest(scope, receive, send)


def _credential(scope: Scope, operation: Operation[Any, Any], resource: str) -> Credential:
    """Find the credential; a cookie counts only where an operation takes it, and for writes from our own pages.

    Raises:
        CrossSite: a write with a cookie that another site's page sent.
    """
    authorization = header(scope, b"authorization")
    session = None
    if authorization is None and operation.takes_cookies:
        web: Web = scope["app"].state.web
        session = web.cookie(scope, SESSION_COOKIE)
        if session and operation.writes and not web.is_own_origin(scope):
            raise CrossSite
    agent, client = header(scope, b"x-agent-id"), header(scope, b"user-agent")
    address = functools.partial(scope["app"].state.web.addresses.subject, scope)
    return Credential(authorization, agent, session, resource, client, address)


def _shape(method: str, path: str) -> tuple[str, int, str]:
    parts = path.split("/", 3)
    return method, path.count("/"), parts[2] if len(parts) > 2 else ""  # noqa: PLR2004  "", "v1", word


def _unchanged(scope: Scope, tag: str) -> bool:
    if scope["method"] != "GET":
        return False
    known = header(scope, b"if-none-match")
    return known is not None and matches_any(known, tag)


def _idempotency_key(scope: Scope, face: Rest) -> str | None:
    key = header(scope, b"idempotency-key")
    if key is not None and face.method == "GET":
        msg = "Idempotency-Key belongs to writes; a read needs none."
        raise InvalidRequest(msg, details=[{"field": "Idempotency-Key", "message": msg}])
    return key


def _described(binding: Binding, operation: Operation[Any, Any]) -> Callable[..., Any]:
    async def endpoint() -> None: ...

    endpoint.__signature__ = binding.signature()  # type: ignore[attr-defined]
    endpoint.__name__ = operation.name.replace(".", "_")
    endpoint.__doc__ = operation.description
    return endpoint


def _responses(operation: Operation[Any, Any], face: Rest) -> dict[int | str, dict[str, Any]]:
    raised = {errors.STATUS[error.kind] for error in operation.raises} | _ALWAYS_POSSIBLE
    if not operation.plan_exempt or operation.feature is not None or operation.spends:
        raised.add(errors.STATUS[Kind.PAYMENT_REQUIRED])
    if face.method in BODY_METHODS:
        raised |= {413, 415}
    if operation.writes and face.method != "GET":
        raised |= {409, 410, 422}
    if any(isinstance(mark, FromHeader) and mark.name == "If-Match" for mark in _marks(operation)):
        raised.add(412)
    found: dict[int | str, dict[str, Any]] = {status: {"model": ErrorBody} for status in sorted(raised)}
    if operation.result is Binary or _file(operation) is not None:
        schema = {"type": "string", "format": "binary"}
        found[face.status] = {"description": "The file.", "content": {_file(operation) or "*/*": {"schema": schema}}}
    if _has_tag(operation):
        found[_NOT_MODIFIED] = {"description": "The entity tag in `If-None-Match` is current."}
    return found


def _marks(operation: Operation[Any, Any]) -> Iterator[Any]:
    for field in operation.args.model_fields.values():
        yield from field.metadata


def _file(operation: Operation[Any, Any]) -> str | None:
    """Give the media type of an operation that answers a file."""
    return getattr(operation.result, "media_type", None)


def _file_headers(result: Any) -> Headers:
    """Name a file that is to be kept, not shown."""
    disposition = f'attachment; filename="{result.filename}"'
    return [(b"content-type", result.media_type.encode()), (b"content-disposition", disposition.encode())]


def _has_tag(operation: Operation[Any, Any]) -> bool:
    """Tell whether a read answers one thing that has revisions."""
    if operation.result is Binary:
        return True
    if operation.writes or "data" not in (fields := operation.result.model_fields):
        return False
    return hasattr(fields["data"].annotation, "etag")


def _header(name: str, description: str, **schema: Any) -> dict[str, Any]:
    return {
        "name": name,
        "in": "header",
        "required": False,
        "description": description,
        "schema": {"type": "string"} | schema,
    }


def _extra(operation: Operation[Any, Any], face: Rest) -> dict[str, Any]:
    scopes = [scope.value for scope in operation.scopes]
    accepted: dict[CredentialKind, list[dict[str, list[str]]]] = {
        CredentialKind.API_KEY: [{"apiKey": []}],
        CredentialKind.OAUTH: [
            *({"oauth": one} for one in ([scopes] if operation.every_scope else [[scope] for scope in scopes] or [[]])),
            {"bearer": scopes[:1]},
        ],
        CredentialKind.SESSION: [{"browserSession": []}],
    }
    kinds = operation.credentials or {CredentialKind.API_KEY, CredentialKind.OAUTH}
    kinds |= {CredentialKind.SESSION} if operation.takes_cookies else set()
    extra: dict[str, Any] = {
        "security": [way for kind in CredentialKind if kind in kinds for way in accepted[kind]],
        "x-scopes": scopes,
        "x-rate-family": operation.rate.value,
    }
    if operation.writes and face.method != "GET":
        text = "Makes a retry safe: the first answer is kept for 24 hours and sent again."
        extra["parameters"] = [_header("Idempotency-Key", text, maxLength=255) | {"required": operation.needs_key}]
    elif _has_tag(operation):
        text = "Entity tags that the caller has; when one is current, the answer is 304 without a body."
        extra["parameters"] = [_header("If-None-Match", text)]
    return extra
