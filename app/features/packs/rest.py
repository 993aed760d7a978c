"""REST faces of packs."""

from __future__ import annotations

from app.edge.rest.router import Rest
from app.features.packs import operations

ROUTES = [
    Rest("GET", "/v1/pack", operations.make_pack, core=False),
    Rest("GET", "/v1/packs/{hash}", operations.get_pack, core=False),
]
