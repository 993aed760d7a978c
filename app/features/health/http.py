"""`/livez` asks nothing; `/readyz` asks the database, at most once a second."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, Response

from app.edge.rest.raw import Raw
from app.features.health.service import Readiness

if TYPE_CHECKING:
    from starlette.requests import Request

_READY_SECONDS = 0.5
_CACHE_SECONDS = 1.0


async def livez(request: Request) -> Response:  # noqa: ARG001  asks nothing
    """Tell that the process serves requests."""
    return Response("ok\n", media_type="text/plain", headers={"cache-control": "no-store"})


async def readyz(request: Request) -> Response:
    """Tell whether requests can be answered: 503 while draining, without the database, or on another schema."""
    readiness: Readiness = request.app.state.readiness
    now = time.monotonic()
    if now - readiness.checked_at > _CACHE_SECONDS:
        readiness.checked_at = now
        try:
            readiness.report = await asyncio.wait_for(readiness.check(), _READY_SECONDS)
        except Exception as error:  # noqa: BLE001  any failure means: not ready
            readiness.report = {"ready": False, "database": type(error).__name__}
    status = 200 if readiness.report["ready"] else 503
    return JSONResponse(readiness.report, status, headers={"cache-control": "no-store"})


ROUTES = [
    Raw("/livez", livez, why="asked by supervisors, needs no credential and no store", rate="none"),
    Raw("/readyz", readyz, why="asked by load balancers, answers from a cache of a second", rate="none"),
]
