"""What owners can ask about the past of their workspace."""

from __future__ import annotations

from app.features.audit import queries
from app.features.audit.schemas import AuditEntry, ListAudit
from app.features.workspaces.errors import OwnerRequired
from app.gate.operation import Context, query
from app.gate.policy import Rate, Role, Scope
from app.kit import cursor
from app.kit.paging import clamped, paged
from app.kit.schema import Page


@query("audit.list", scope=Scope.WORKSPACE_READ, rate=Rate.READONLY, whole_workspace=True, raises=(OwnerRequired,))
async def list_audit(ctx: Context, args: ListAudit) -> Page[AuditEntry]:
    """List who changed what, by which grant and client, and when, the newest first; for owners of the workspace.

    Changes of documents, prompts and collections, of leases and labels, of exports and imports, and of members, keys
    and sessions that belong to this workspace.
    """
    if ctx.principal.role is not Role.OWNER:
        raise OwnerRequired
    limit, notice = clamped(args.limit)
    after = cursor.decode(args.cursor) if args.cursor else None
    async with ctx.snapshot() as tx:
        rows = await queries.list_audit(tx, args, after, limit + 1)
    return paged(rows, limit, notice, lambda row: AuditEntry.model_validate(dict(row), by_name=True))
