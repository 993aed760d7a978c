"""The REST face of the audit trail."""

from __future__ import annotations

from app.edge.rest.router import Rest
from app.features.audit import operations

ROUTES = [Rest("GET", "/v1/audit", operations.list_audit, core=False)]
