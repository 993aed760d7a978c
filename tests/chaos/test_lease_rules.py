"""The checker of leases on histories made by hand: times of leases and versions are milliseconds of the database."""

import json

import pytest

from tests.chaos.checker import RULES, check
from tests.chaos.history import Call
from tests.chaos.lease_rules import LEASE_RULES

TTL = 5
HASH = "a" * 64


def lease(op, kind, start, end, fence, granted, **more):
    """A grant or renewal at a time of the database, told between two times of the client."""
    data = {"leaseId": f"lse_{fence}", "fence": fence, "ttlSeconds": TTL, "expiresAt": granted + TTL * 1000}
    shown = None if kind == "acquire" else fence
    return Call(op, kind, "d", start, end, 200, json.dumps({"data": data}), key=op, managed=True, fence=shown, **more)


def write(op, start, end, fence, revision):
    data = {"revision": revision, "contentHash": f"{revision:064}", "noop": False}
    return Call(op, "patch", "d", start, end, 200, json.dumps({"data": data}), key=op, managed=True, fence=fence)


def refused(op, kind, start, end, fence, reason="LEASE_LOST"):
    text = json.dumps({"error": {"reason": reason, "details": None}})
    return Call(op, kind, "d", start, end, 409, text, key=op, managed=True, fence=fence)


def unknown(op, kind, start, end, fence):
    return Call(op, kind, "d", start, end, managed=True, key=op, fence=fence)


def final(*writes):
    """Versions: who wrote each, and when by the database."""
    data = [
        {"revision": n, "changeLog": op, "title": "t", "content": str(n), "tags": [], "createdAt": at}
        for n, (op, at) in enumerate([(None, 0), *writes], 1)
    ]
    return Call("final", "final", "d", 100, 101, 200, json.dumps({"data": data}))


FIRST = lease("a", "acquire", 1, 2, 1, 10_000)
GOOD = {
    "a lease runs out and another writes": [
        FIRST,
        write("w", 2, 3, 1, 2),
        lease("b", "acquire", 8, 9, 2, 15_000),
        refused("late", "patch", 9, 10, 1),
        write("x", 10, 11, 2, 3),
        final(("w", 11_000), ("x", 16_000)),
    ],
    "a release makes room at once": [
        FIRST,
        lease("r", "release", 3, 4, 1, 10_000),
        lease("b", "acquire", 4, 5, 2, 12_000),
        lease("again", "release", 3, 4, 1, 10_000),
        final(),
    ],
    "a release that nobody heard of makes room too": [
        FIRST,
        unknown("r", "release", 3, 4, 1),
        lease("b", "acquire", 4, 5, 2, 12_000),
        final(),
    ],
    "a renewal holds longer": [
        FIRST,
        lease("n", "renew", 3, 4, 1, 13_000),
        write("w", 6, 7, 1, 2),
        lease("b", "acquire", 10, 11, 2, 18_000),
        final(("w", 16_000)),
    ],
    "an unknown renewal may hold longer": [
        FIRST,
        unknown("n", "renew", 3, 4, 1),
        write("w", 6, 7, 1, 2),
        final(("w", 16_000)),
    ],
    "a request that was refused succeeds when it comes again after a release": [
        FIRST,
        refused("b", "acquire", 2, 3, None, "LEASE_HELD"),
        lease("r", "release", 4, 5, 1, 10_000),
        lease("b", "acquire", 5, 6, 2, 13_000),
        final(),
    ],
    "a held lease may be free when the same request comes again": [
        FIRST,
        refused("b", "acquire", 3, 4, None, "LEASE_HELD"),
        lease("b", "acquire", 9, 10, 2, 16_000),
        refused("u", "patch", 9, 10, None, "LEASE_REQUIRED"),
        final(),
    ],
}
BAD = {
    "L1 fence 1 was given": [FIRST, lease("b", "acquire", 8, 9, 1, 16_000), final()],
    "L1 fence 2 was granted before": [FIRST, lease("b", "acquire", 1, 3, 2, 4_000), final()],
    "L1 fence 2 was answered": [
        lease("a", "acquire", 8, 9, 1, 10_000),
        lease("b", "acquire", 1, 2, 2, 16_000),
        final(),
    ],
    "L2": [FIRST, lease("b", "acquire", 3, 4, 2, 12_000), final()],
    "L4 w wrote 1000 ms": [FIRST, write("w", 8, 9, 1, 2), final(("w", 16_000))],
    "L4 w wrote under": [
        FIRST,
        lease("b", "acquire", 8, 9, 2, 15_000),
        write("w", 9, 10, 1, 2),
        final(("w", 16_000)),
    ],
    "L5": [
        FIRST,
        lease("b", "acquire", 8, 9, 2, 15_000),
        write("x", 9, 10, 2, 2),
        write("w", 10, 11, 1, 3),
        final(("x", 16_000), ("w", 17_000)),
    ],
    "L6": [FIRST, write("u", 2, 3, None, 2), final(("u", 11_000))],
    "L7 n renewed": [
        FIRST,
        lease("b", "acquire", 8, 9, 2, 15_000),
        lease("n", "renew", 9, 10, 1, 16_000),
        final(),
    ],
    "L7 n revived": [FIRST, lease("n", "renew", 9, 10, 1, 16_000), final()],
    "L8 w used": [FIRST, lease("r", "release", 3, 4, 1, 10_000), write("w", 5, 6, 1, 2), final(("w", 13_000))],
    "L8 r released": [
        FIRST,
        lease("b", "acquire", 8, 9, 2, 15_000),
        lease("r", "release", 10, 11, 1, 10_000),
        final(),
    ],
    "C1": [FIRST, refused("w", "patch", 2, 3, 1, "LEASE_NOT_ENABLED"), final()],
}


@pytest.mark.parametrize("name", GOOD)
def test_a_good_history_passes(name):
    assert check(GOOD[name], (*RULES, *LEASE_RULES)) == []


@pytest.mark.parametrize("name", BAD)
def test_a_bad_history_is_named(name):
    found = check(BAD[name], (*RULES, *LEASE_RULES))
    assert any(fault.startswith(f"d: {name}") for fault in found), found
