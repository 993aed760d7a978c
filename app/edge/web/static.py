"""Style sheet and scripts, at addresses that change with their bytes, so that browsers may keep them for good."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

if TYPE_CHECKING:
    from starlette.requests import Request

_FOLDER = Path(__file__).with_name("static")
_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
_FOREVER = "public, max-age=31536000, immutable"


def _load() -> dict[str, tuple[str, bytes, str]]:
    found: dict[str, tuple[str, bytes, str]] = {}
    for path in sorted(_FOLDER.iterdir()):
        if path.suffix in _TYPES:
            body = path.read_bytes()
            served = f"{path.stem}-{hashlib.sha256(body).hexdigest()[:12]}{path.suffix}"
            found[path.name] = (served, body, _TYPES[path.suffix])
    return found


_FILES = _load()
_SERVED = {served: (body, media_type) for served, body, media_type in _FILES.values()}


def url(name: str) -> str:
    """Give the address of a file by its plain name."""
    return f"/static/{_FILES[name][0]}"


def body(name: str) -> bytes:
    """Give the bytes of a file by its plain name."""
    return _FILES[name][1]


async def serve(request: Request) -> Response:
    """Answer with a file."""
    found = _SERVED.get(request.path_params["name"])
    if found is None:
        raise HTTPException(404)
    body, media_type = found
    return Response(body, headers={"content-type": media_type, "cache-control": _FOREVER})


ROUTE = Route("/static/{name}", serve, methods=["GET"])
