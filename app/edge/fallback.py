"""Answers for what no route serves: the same error envelope as everywhere, and a page where a browser looks for one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match, Route

from app.edge import errors
from app.edge.web.routes import nowhere, without_slash
from app.kit.errors import AppError, InvalidRequest, MethodNotAllowed, NotFound

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.requests import Request

_NOT_FOUND = 404
_METHOD_NOT_ALLOWED = 405


async def _refuse(request: Request, exception: Exception) -> Response:
    status = exception.status_code if isinstance(exception, HTTPException) else 500
    headers = dict((exception.headers if isinstance(exception, HTTPException) else None) or {})
    if status == _METHOD_NOT_ALLOWED:
        headers["Allow"] = ", ".join(_allowed(request))
        if request.method == "OPTIONS":
            return Response(status_code=204, headers=headers)
    if status == _NOT_FOUND and (moved := without_slash(request)):
        return moved
    if status == _NOT_FOUND and _browses(request):
        return await nowhere(request)
    error = _error(status, request)
    body = errors.envelope(error, request.scope["request_id"])
    return Response(body, errors.status_of(error), headers, media_type="application/json")


def _browses(request: Request) -> bool:
    return request.method in ("GET", "HEAD") and "text/html" in request.headers.get("accept", "")


def _allowed(request: Request) -> list[str]:
    """List the methods of every route of the path: the router knows only those of the first (RFC 9110, 15.5.6)."""
    routes = [route for route in request.app.routes if isinstance(route, Route)]
    found = [route.methods or set() for route in routes if route.matches(request.scope)[0] is not Match.NONE]
    return sorted(set().union(*found))


def _error(status: int, request: Request) -> AppError:
    if status == _NOT_FOUND:
        return NotFound("Nothing is served at this path. GET /openapi/full.json lists what is.")
    if status == _METHOD_NOT_ALLOWED:
        return MethodNotAllowed(f"This path does not take {request.method}; the Allow header names what it takes.")
    if status < 500:  # noqa: PLR2004  the framework refused a malformed request
        return InvalidRequest("The request cannot be understood.")
    return errors.internal(request.scope["request_id"])


def install(app: FastAPI) -> None:
    """Answer the framework's own refusals, and faults outside the operations, with the envelope."""
    app.add_exception_handler(HTTPException, _refuse)
    app.add_exception_handler(Exception, _refuse)
