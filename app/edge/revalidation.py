"""Answers that caches keep: an entity tag of the bytes, and 304 for whoever has them (RFC 9110 section 13.1.2)."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from starlette.responses import Response

from app.edge.asgi import header
from app.kit.revision import matches_any

if TYPE_CHECKING:
    from starlette.requests import Request

_OK = 200


def revalidated(request: Request, response: Response) -> Response:
    """Tag a whole answer to GET or HEAD; leave the body out where the request names the tag."""
    tag = f'"{hashlib.sha256(bytes(response.body)).hexdigest()[:32]}"'
    response.headers["etag"] = tag
    known = header(request.scope, b"if-none-match")
    if known is None or response.status_code != _OK or not matches_any(known, tag):
        return response
    kept = {name: value for name, value in response.headers.items() if name not in ("content-length", "content-type")}
    return Response(status_code=304, headers=kept)
