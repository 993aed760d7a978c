"""Fills the gate's port of meters; gives workspaces their plans."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TypeVar

from app.features.plans import queries
from app.gate.policy import Meter
from app.gate.quota import FRESH_SECONDS, Quota, exceeded
from app.kit.errors import InvalidRequest, NotFound

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping
    from datetime import datetime
    from uuid import UUID

    from app.gate.policy import Plan, Plans
    from app.store.postgres import Database
    from app.store.tx import Tx

T = TypeVar("T")

NO_PLAN = "none"
_REMEMBERED = 20_000
_MILLISECONDS = 1_000


class Usage:
    """Counts what workspaces use; amounts are derived from what is stored, so that they cannot drift."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._recent: dict[UUID, tuple[float, Mapping[Meter, int]]] = {}

    async def recent(self, workspace_id: UUID) -> Mapping[Meter, int]:
        """Give amounts that are at most `FRESH_SECONDS` old."""
        known = self._recent.get(workspace_id)
        now = time.monotonic()
        if known is not None and now < known[0]:
            return known[1]
        used = await queries.count_all(self._database, workspace_id)
        if len(self._recent) >= _REMEMBERED:
            self._recent.clear()
        self._recent[workspace_id] = (now + FRESH_SECONDS, used)
        return used

    async def count(self, tx: Tx, meters: Collection[Meter], *, alone: bool) -> Mapping[Meter, int]:
        """Count amounts inside a transaction; `alone` first waits for the others that count so."""
        if alone:
            await queries.wait_for_others(tx)
        return await queries.count(tx, meters)

    async def reserve(self, workspace_id: UUID, meter: Meter, limit: int) -> None:
        """Take one of a month's allowance, in a transaction of its own.

        Raises:
            QuotaExceeded: there is none left.
        """
        async with self._database.tx(workspace_id) as tx:
            if await queries.reserve(tx, meter, limit):
                return
            resets_at, used = await queries.this_month(tx)
        raise exceeded(meter, limit, used.get(meter, 0), _milliseconds(resets_at))

    async def report(self, workspace_id: UUID, plan: Plan | None) -> dict[str, Any]:
        """Give every amount with its limit (null: none) and the end of its period in epoch milliseconds.

        Monthly amounts are counted only where the plan limits them.
        """
        limits = plan.limits if plan else {}
        stored = await queries.count_all(self._database, workspace_id)
        found = {meter.value: _line(used, limits.get(meter), None) for meter, used in stored.items()}
        if monthly := [meter for meter in limits if meter.monthly]:
            async with self._database.snapshot(workspace_id) as tx:
                resets_at, used = await queries.this_month(tx)
            ends = _milliseconds(resets_at)
            found |= {meter.value: _line(used.get(meter, 0), limits[meter], ends) for meter in monthly}
        return found


class Allowances:
    """Judges what the worker stores for a workspace by the plan that it has then."""

    def __init__(self, database: Database, plans: Plans, default_plan: str) -> None:
        self._plans = plans
        self._default = default_plan
        self._quota = Quota(Usage(database))

    async def within(self, tx: Tx, write: Callable[[], Awaitable[T]]) -> T:
        """Run a write of texts; without a limit on storage nothing is counted.

        Raises:
            QuotaExceeded: it took more than is allowed; the transaction must be rolled back.
        """
        plan = self._plans.plans.get(await queries.get_plan(tx, self._default) or NO_PLAN)
        limit = plan.limits.get(Meter.STORAGE_BYTES) if plan else None
        limits = {} if limit is None else {Meter.STORAGE_BYTES: limit}
        return await self._quota.within(tx, limits, write)


async def set_plan(database: Database, plans: Plans, email: str, name: str, trial_days: int | None) -> dict[str, Any]:
    """Give a person's own workspace a plan of `plans.toml`, or none; it holds for new requests within seconds.

    Raises:
        InvalidRequest: there is no such plan, or the trial has no days.
        NotFound: there is no such person.
    """
    if name not in {*plans.plans, NO_PLAN}:
        msg = f"There is no plan {name!r}; the plans are {', '.join([*plans.plans, NO_PLAN])}."
        raise InvalidRequest(msg)
    row = await queries.set_plan(database, email, None if name == NO_PLAN else name, trial_days)
    if row is None:
        msg = f"There is no user {email}; create one first."
        raise NotFound(msg)
    ends: datetime | None = row["trial_ends_at"]
    return {
        "workspaceId": str(row["workspace_id"]),
        "email": email,
        "plan": row["plan"],
        "trialEndsAt": ends.isoformat() if ends else None,
    }


def _line(used: int, limit: int | None, resets_at: int | None) -> dict[str, int | None]:
    return {"used": used, "limit": limit, "resetsAt": resets_at}


def _milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * _MILLISECONDS)
