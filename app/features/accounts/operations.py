"""What a caller can ask about itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.features.accounts import queries
from app.features.accounts.schemas import GetMe, PlanInfo, User, Workspace
from app.features.plans.service import Usage
from app.gate.operation import Context, query
from app.gate.policy import Rate
from app.kit.errors import NotFound
from app.kit.schema import One

if TYPE_CHECKING:
    from app.gate.policy import Plan


@query("user.me", scope=None, rate=Rate.READONLY, plan_exempt=True, takes_cookies=True, raises=(NotFound,))
async def get_me(ctx: Context, args: GetMe) -> One[User]:  # noqa: ARG001  it has none
    """Tell who the caller is: user, credential kind, permissions, workspace, plan and usage. Works without a plan."""
    principal = ctx.principal
    async with ctx.snapshot() as tx:
        row = await queries.get_me(tx, principal.user_id)
    if row is None:
        msg = "The user of this credential was not found any more; sign in again."
        raise NotFound(msg)
    user = User(
        id=row["id"],
        name=row["name"],
        email=row["email"],
        external_id=row["external_id"],
        auth_method=principal.kind.value,
        permissions=sorted(principal.scopes),
        collection_ids=None if principal.collections is None else list(principal.collections),
        workspace=Workspace(id=principal.workspace_id, name=row["workspace_name"], role=principal.role.value),
        plan=_plan(principal.plan),
        # What the whole workspace holds is nothing that a key for some of its collections may count.
        usage=await ctx.get(Usage).report(ctx.workspace_id, principal.plan) if principal.collections is None else {},
    )
    return One(data=user)


def _plan(plan: Plan | None) -> PlanInfo | None:
    if plan is None:
        return None
    return PlanInfo(name=plan.name, trial=plan.trial, features=sorted(plan.features))
