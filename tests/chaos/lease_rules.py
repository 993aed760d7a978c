"""Judges leases (L1 to L8). Every instant here is the database's own: a lease begins its length before it ends, and a
write was decided when its version says. Only releases, which tell no time, are placed by the clients' clock."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from tests.chaos.checker import Operation, Operations, Rule

_CUT = 1
"""Times are cut to a millisecond."""


@dataclass
class Lease:
    """What the history tells of one fence."""

    fence: int
    granted: int
    grant: Operation
    ends: int
    renewals: list[tuple[int, int, Operation]] = field(default_factory=list)
    """When, until when, by which operation."""
    releases: list[Operation] = field(default_factory=list)
    unsure: bool = False
    """Whether a renewal has an unknown outcome: nobody can tell when the lease ends."""


def leases_of(history: Operations) -> list[Lease]:
    """Collect the leases whose grant was acknowledged, by fence."""
    found: dict[int, Lease] = {}
    for operation in history.found:
        if operation.first.kind == "acquire" and (call := operation.acknowledged) is not None:
            data = call.answer["data"]
            granted = data["expiresAt"] - data["ttlSeconds"] * 1000
            found.setdefault(data["fence"], Lease(data["fence"], granted, operation, data["expiresAt"]))
    for operation in history.found:
        lease = found.get(operation.first.fence or 0)
        if lease is None:
            continue
        if operation.first.kind == "release":
            lease.releases.append(operation)
        elif operation.first.kind == "renew":
            _renew(lease, operation)
    return sorted(found.values(), key=lambda lease: lease.fence)


def _told(operation: Operation) -> float:
    """Give when success was first told: a request that was refused may succeed when it comes again."""
    return min((call.returned for call in operation.answers if call.ok), default=math.inf)


def _renew(lease: Lease, operation: Operation) -> None:
    call = operation.acknowledged
    if call is None:
        lease.unsure |= not operation.answers
        return
    data = call.answer["data"]
    lease.renewals.append((data["expiresAt"] - data["ttlSeconds"] * 1000, data["expiresAt"], operation))


def _fenced(history: Operations) -> list[tuple[int, int, int, Operation]]:
    """Give the acknowledged writes under leases: revision, fence, when decided, operation."""
    decided = {version["revision"]: version["createdAt"] for version in history.final}
    found = []
    for operation in history.found:
        revision, fence = operation.written, operation.first.fence
        if revision is not None and fence is not None and revision in decided:
            found.append((revision, fence, decided[revision], operation))
    return sorted(found, key=lambda item: item[0])


def _fences(history: Operations) -> Iterator[str]:
    """L1: each grant has a fence of its own, and later grants have larger ones, by both clocks."""
    grants: dict[int, str] = {}
    for operation in history.found:
        if operation.first.kind == "acquire" and (call := operation.acknowledged) is not None:
            fence, op = call.answer["data"]["fence"], operation.first.op
            if grants.setdefault(fence, op) != op:
                yield f"L1 fence {fence} was given to {grants[fence]} and to {op}"
    leases = leases_of(history)
    latest = -math.inf
    for before, after in pairwise(leases):
        if after.granted + _CUT < before.granted:
            yield f"L1 fence {after.fence} was granted before {before.fence}"
        latest = max(latest, before.grant.first.invoked)
        if _told(after.grant) < latest:
            yield f"L1 fence {after.fence} was answered before the request for {before.fence} began"


def _holders(history: Operations) -> Iterator[str]:
    """L2, L7: nobody gets a lease, or renews one, while another's is live."""
    for before, after in pairwise(leases_of(history)):
        for at, _, operation in before.renewals:
            if at > after.granted + _CUT:
                yield f"L7 {operation.first.op} renewed fence {before.fence} after {after.fence} had been granted"
        ends = max([before.ends, *(until for _, until, _ in before.renewals)])
        released = any(release.first.invoked < _told(after.grant) for release in before.releases)
        if after.granted + _CUT < ends and not released:
            yield f"L2 fence {after.fence} was granted {ends - after.granted} ms before {before.fence} was over"


def _renewals(history: Operations) -> Iterator[str]:
    """L7: a renewal comes while the lease lives."""
    for lease in leases_of(history):
        ends = lease.ends
        for at, until, operation in sorted(lease.renewals, key=lambda item: item[:2]):
            if at > ends + _CUT and not lease.unsure:
                yield f"L7 {operation.first.op} revived fence {lease.fence}, {at - ends} ms after its end"
            ends = max(ends, until)


def _writes(history: Operations) -> Iterator[str]:
    """L4, L5: a write was decided while its lease lived and no later one had been granted; fences never step back."""
    writes = _fenced(history)
    leases = leases_of(history)
    by_fence = {lease.fence: lease for lease in leases}
    for before, after in pairwise(writes):
        if after[1] < before[1]:
            yield f"L5 {after[3].first.op} wrote under fence {after[1]} after a write under {before[1]}"
    for _, fence, decided, operation in writes:
        later = min((lease.granted for lease in leases if lease.fence > fence), default=math.inf)
        if decided > later + _CUT:
            yield f"L4 {operation.first.op} wrote under fence {fence} after a later one had been granted"
        lease = by_fence.get(fence)
        if lease is not None and not lease.unsure:
            ends = max([lease.ends, *(until for _, until, _ in lease.renewals)])
            if decided > ends + _CUT:
                yield f"L4 {operation.first.op} wrote {decided - ends} ms after its lease was over"


def _needed(history: Operations) -> Iterator[str]:
    """L6: a managed document is not written without a lease, and the refusal says so."""
    for operation in history.found:
        call = operation.first
        if call.managed and call.writes and call.fence is None:
            yield from (
                f"L6 {call.op} shows no lease and was answered {answer.status} {answer.reason}"
                for answer in operation.answers
                if answer.reason != "LEASE_REQUIRED"
            )


def _released(history: Operations) -> Iterator[str]:
    """L8: who was told that his lease is released neither writes nor renews under it; releasing again is no error.

    A lease that another has followed is released by nobody.
    """
    leases = leases_of(history)
    for lease, following in pairwise(leases):
        for release in lease.releases:
            if release.acknowledged and release.first.invoked > _told(following.grant):
                yield f"L8 {release.first.op} released fence {lease.fence} after {following.fence} had been granted"
    for lease in leases:
        done = min(map(_told, lease.releases), default=math.inf)
        yield from _after(history.found, lease.fence, done)


def _after(operations: Sequence[Operation], fence: int, done: float) -> Iterator[str]:
    for operation in operations:
        call = operation.first
        if call.fence != fence or call.invoked <= done:
            continue
        if call.kind == "release" and operation.answers and operation.acknowledged is None:
            superseded = any(answer.reason == "LEASE_LOST" for answer in operation.answers)
            if not superseded:
                yield f"L8 {call.op} released fence {fence} again and was refused"
        elif call.kind in ("patch", "renew") and operation.acknowledged is not None:
            yield f"L8 {call.op} used fence {fence} after its release"


LEASE_RULES: tuple[Rule, ...] = (_fences, _holders, _renewals, _writes, _needed, _released)
"""Of lease-managed documents; on any other they have nothing to say."""
