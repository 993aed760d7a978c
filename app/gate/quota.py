"""Allowances of a plan: amounts are judged inside the write's transaction, monthly ones reserved before the call.

A meter without a limit costs nothing. One with a limit is compared with usage that is at most `FRESH_SECONDS` old; only
near the limit writes of a workspace queue up, and are judged by counts before and after.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from app.gate.policy import Meter, Rate
from app.kit.errors import AppError, Kind, QuotaExceeded

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping
    from uuid import UUID

    from app.gate.operation import Operation
    from app.gate.principal import Principal
    from app.store.tx import Tx

T = TypeVar("T")

FRESH_SECONDS: Final = 5.0
"""How old the usage may be by which a write is let through without a lock."""

_NEAR: Final = 0.9
_SLACK: Final = 1_000
_SLACK_BYTES: Final = 100 * 1024 * 1024
"""What other processes may write within `FRESH_SECONDS`: closer to the limit than that, it is counted exactly."""

_WORKSPACES: Final = 10_000

_JUDGED_LATER: Final = frozenset({Kind.CONFLICT, Kind.PRECONDITION_FAILED, Kind.PRECONDITION_REQUIRED})
"""Refusals that come after a spent allowance in the contract's order (contract: section 4.3)."""


@dataclass(slots=True)
class _Eased:
    """Writes of a workspace that were let through without a lock, by one reading of its usage."""

    used: Mapping[Meter, int]
    writes: int = 0


class Meters(Protocol):
    """What knows how much of each meter is used."""

    async def recent(self, workspace_id: UUID) -> Mapping[Meter, int]:
        """Give amounts that are at most `FRESH_SECONDS` old."""

    async def count(self, tx: Tx, meters: Collection[Meter], *, alone: bool) -> Mapping[Meter, int]:
        """Count amounts inside a transaction; `alone` first waits for the others that count so."""

    async def reserve(self, workspace_id: UUID, meter: Meter, limit: int) -> None:
        """Take one of a month's allowance, in a transaction of its own.

        Raises:
            QuotaExceeded: there is none left.
        """


def exceeded(meter: Meter, limit: int, used: int, resets_at: int | None = None) -> QuotaExceeded:
    """Say which allowance is used up; `resets_at` in epoch milliseconds, None where deleting is what helps."""
    helps = "delete some" if resets_at is None else "wait for the next month"
    msg = f"The plan's allowance of {meter} is used up ({used} of {limit}); {helps}, or choose a larger plan."
    return QuotaExceeded(msg, details={"meter": meter.value, "limit": limit, "used": used, "resetsAt": resets_at})


class Quota:
    """The gate's judge of allowances."""

    def __init__(self, meters: Meters) -> None:
        self._meters = meters
        self._eased: dict[UUID, _Eased] = {}

    async def reserve(self, principal: Principal, operation: Operation[Any, Any]) -> None:
        """Take what a call costs of the month's allowances.

        Raises:
            QuotaExceeded: nothing is left of one.
        """
        limits = principal.plan.limits if principal.plan else {}
        wanted = [meter for meter in operation.spends if meter.monthly]
        if operation.rate is Rate.API:
            wanted.append(Meter.API_UNITS_MONTH)
        for meter in wanted:
            if (limit := limits.get(meter)) is not None:
                await self._meters.reserve(principal.workspace_id, meter, limit)

    async def near(self, principal: Principal, operation: Operation[Any, Any]) -> dict[Meter, int]:
        """Give the limits that a write may come to, so that it must be judged `within` its transaction."""
        limits = principal.plan.limits if principal.plan else {}
        asked = {meter: limits[meter] for meter in operation.spends if meter in limits and not meter.monthly}
        if not asked:
            return {}
        used = await self._meters.recent(principal.workspace_id)
        eased = self._since(principal.workspace_id, used)
        # What this process let through since the usage was read counts too: a batch is hundreds of writes at once.
        coming = {meter: 0 if meter is Meter.STORAGE_BYTES else eased.writes + operation.most for meter in asked}
        near = {meter: limit for meter, limit in asked.items() if used[meter] + coming[meter] > _ease(meter, limit)}
        if not near:
            eased.writes += operation.most
        return near

    def _since(self, workspace_id: UUID, used: Mapping[Meter, int]) -> _Eased:
        """Give the count of writes that were let through without a lock since the usage was read."""
        found = self._eased.get(workspace_id)
        if found is None or found.used is not used:
            if len(self._eased) >= _WORKSPACES:
                self._eased.clear()
            found = self._eased[workspace_id] = _Eased(used)
        return found

    async def within(self, tx: Tx, limits: Mapping[Meter, int], call: Callable[[], Awaitable[T]]) -> T:
        """Run a write that may come to limits, alone among its like.

        Raises:
            QuotaExceeded: it took more than is allowed; the transaction must be rolled back. Also where nothing is left
                and the write would be refused for a later reason.
        """
        if not limits:
            return await call()
        before = await self._meters.count(tx, limits, alone=True)
        try:
            result = await call()
        except AppError as error:
            full = [meter for meter, limit in limits.items() if before[meter] >= limit]
            if full and error.kind in _JUDGED_LATER:
                raise exceeded(full[0], limits[full[0]], before[full[0]]) from error
            raise
        after = await self._meters.count(tx, limits, alone=False)
        for meter, limit in limits.items():
            if after[meter] > max(limit, before[meter]):
                raise exceeded(meter, limit, before[meter])
        return result


def _ease(meter: Meter, limit: int) -> float:
    slack = _SLACK_BYTES if meter is Meter.STORAGE_BYTES else _SLACK
    return min(limit * _NEAR, limit - slack)
