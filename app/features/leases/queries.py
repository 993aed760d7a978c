"""SQL of coordination."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uuid import UUID

    import asyncpg

    from app.features.leases.schemas import ChangeLease, Policy
    from app.gate.operation import Context

GET = "SELECT * FROM coordination_get($1, $2, $3)"

_SET = "SELECT * FROM coordination_set($1, $2, $3, $4, $5, $6)"

_LEASE = "SELECT * FROM coordination_lease($1, $2, $3, $4, $5, $6, $7)"


async def set_policy(
    ctx: Context, document_id: UUID, policy: Policy, tags: tuple[str, ...], *, owner: bool
) -> asyncpg.Record:
    """Set the policy when one of the entity tags is current; the row tells the outcome."""
    user_id = ctx.principal.user_id
    row = await ctx.tx.fetchrow(_SET, ctx.workspace_id, document_id, policy.value, tags, user_id, owner)
    assert row is not None
    return row


async def change_lease(ctx: Context, args: ChangeLease, digest: bytes, seconds: int | None) -> asyncpg.Record:
    """Acquire, renew or release; the row tells the outcome and the lease."""
    grant_id, action = ctx.principal.grant_id, args.action.value
    row = await ctx.tx.fetchrow(
        _LEASE, ctx.workspace_id, args.document_id, action, digest, args.lease_fence, seconds, grant_id
    )
    assert row is not None
    return row
