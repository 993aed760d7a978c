"""`/livez` asks nothing; `/readyz` asks the database, at most once a second."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, Response

from app.edge.rest.raw import Raw
from app.features.health.service import Readiness

if TYPE_CHECKING:
    from starlette.requests import Request


async def livez(request: Request) -> Response:  # noqa: ARG001  asks nothing
    """Tell that the process serves requests."""
    return Response("ok\n", media_type="text/plain", headers={"cache-control": "no-store"})


async def readyz(request: Request) -> Response:
    """Tell whether requests can be answered: 503 while draining, without the database, or on another schema."""
    readiness: Readiness = request.app.state.readiness
    found = await readiness.current()
    return JSONResponse(found, 200 if found["ready"] else 503, headers={"cache-control": "no-store"})


ROUTES = [
    Raw("/livez", livez, why="asked by supervisors, needs no credential and no store", rate="none"),
    Raw("/readyz", readyz, why="asked by load balancers, answers from a cache of a second", rate="none"),
]
