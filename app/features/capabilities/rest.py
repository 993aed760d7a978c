"""REST face of the service's description."""

from __future__ import annotations

from app.edge.rest.router import Rest
from app.features.capabilities import operations

ROUTES = [Rest("GET", "/v1/mcp/capabilities", operations.get_capabilities, core=False)]
