"""The checker on histories made by hand, and a short real history of two workers."""

import asyncio
import contextlib
import json

import pytest

from tests.chaos import run
from tests.chaos.checker import check
from tests.chaos.history import Call, load, save
from tests.chaos.run import Plan
from tests.support.stack import Stack

A, B, C = ("a" * 64, "b" * 64, "c" * 64)


def call(op, kind, start, end, revision=None, content_hash=A, *, status=200, noop=False, **more):
    data = {"revision": revision, "contentHash": content_hash, "noop": noop}
    if status == 412:
        details = {"currentRevision": revision, "contentHash": content_hash}
        body = {"error": {"reason": "REVISION_MISMATCH", "details": details}}
    elif status == 422:
        body = {"error": {"reason": "IDEMPOTENCY_KEY_REUSED", "details": None}}
    else:
        body = {"data": data}
    text = json.dumps(body) if status in (200, 412, 422) else ""
    return Call(op, kind, "d", start, end, status, text, **more)


def final(*names):
    data = [
        {"revision": n, "changeLog": name, "title": "t", "content": f"by {name}", "tags": []}
        for n, name in enumerate((None, *names), 1)
    ]
    return Call("final", "final", "d", 100, 101, 200, json.dumps({"data": data}))


GOOD = {
    "sequential": [call("w", "patch", 1, 2, 2, B, expected=1), call("r", "get", 3, 4, 2, B), final("w")],
    "a read beside the write may see either": [
        call("w", "patch", 1, 5, 2, B),
        call("new", "get", 2, 3, 2, B),
        call("old", "get", 1, 4, 1, A),
        final("w"),
    ],
    "an unknown write may have happened": [
        call("w", "patch", 1, 2, status=0),
        call("r", "get", 3, 4, 2, B),
        final("w"),
    ],
    "an unknown write may not have happened": [call("w", "patch", 1, 2, status=0), call("r", "get", 3, 4, 1), final()],
    "a late replay speaks of its first execution": [
        call("w", "patch", 1, 2, 2, B, key="k"),
        call("x", "patch", 3, 4, 3, C),
        call("w", "patch", 5, 6, 2, B, key="k", replayed=True),
        final("w", "x"),
    ],
    "twins of a refused request may be told different revisions": [
        call("w", "patch", 1, 2, 2, B),
        call("s", "patch", 3, 9, 3, C, status=412, expected=1, key="k"),
        call("s", "patch", 3, 4, 2, B, status=412, expected=1, key="k"),
        call("x", "patch", 5, 6, 3, C),
        final("w", "x"),
    ],
    "a key of another request is refused": [
        call("w", "patch", 1, 2, 2, B, key="k"),
        call("m", "misuse", 3, 4, status=422, key="k"),
        final("w"),
    ],
}
BAD = {
    "D1 two writers": [call("w", "patch", 1, 2, 2, B), call("x", "patch", 1, 2, 2, B), final("w")],
    "D1 two hashes": [call("w", "patch", 1, 2, 2, B), call("r", "get", 3, 4, 2, C), final("w")],
    "D2 x based on": [call("w", "patch", 1, 2, 2, B), call("x", "patch", 3, 4, 3, C, expected=1), final("w", "x")],
    "D3": [call("w", "patch", 1, 2, 2, B), final()],
    "D4 w speaks": [call("r", "get", 1, 2, 2, B), call("w", "patch", 3, 4, 2, B), final("w")],
    "D4 r speaks": [call("w", "patch", 1, 2, 2, B), call("r", "get", 3, 4, 1), final("w")],
    "D4 r saw": [call("r", "get", 1, 2, 2, B), call("w", "patch", 3, 4, 2, B), final("w")],
    "D5 s was refused": [call("s", "patch", 1, 2, 1, status=412, expected=1), final()],
    "D5 s based on": [
        call("w", "patch", 1, 2, 2, B),
        call("s", "patch", 3, 4, 2, B, noop=True, expected=1),
        final("w"),
    ],
    "R1": [call("w", "patch", 1, 2, 2, B, key="k"), final("w", "w")],
    "R2 w was answered": [
        call("w", "patch", 1, 2, 2, B, key="k"),
        call("w", "patch", 3, 4, 2, C, key="k"),
        final("w"),
    ],
    "R2 w was both": [
        call("w", "patch", 1, 2, 2, B, key="k", expected=1),
        call("w", "patch", 3, 4, 2, B, key="k", expected=1, status=412),
        final("w"),
    ],
    "R3": [call("m", "misuse", 3, 4, 1, key="k", noop=True), final()],
    "R6": [call("w", "patch", 3, 4, status=422, key="k"), final()],
    "R8": [
        call("w", "patch", 1, 2, status=0, key="k"),
        call("w", "patch", 3, 4, 2, B, key="k", expected=1, status=412),
        final("w"),
    ],
}


@pytest.mark.parametrize("name", GOOD)
def test_a_good_history_passes(name):
    assert check(GOOD[name]) == []


@pytest.mark.parametrize("name", BAD)
def test_a_bad_history_is_named(name):
    assert any(fault.startswith(f"d: {name}") for fault in check(BAD[name])), check(BAD[name])


def test_a_hole_in_the_revisions_is_found():
    data = [{"revision": n, "changeLog": None, "title": "t", "content": str(n), "tags": []} for n in (1, 3)]
    history = [call("r", "get", 1, 2, 1), Call("final", "final", "d", 3, 4, 200, json.dumps({"data": data}))]
    assert any("D2 the revisions are" in fault for fault in check(history))


def test_a_history_survives_its_file(tmp_path):
    save(GOOD["sequential"], tmp_path / "h.jsonl")
    assert load(tmp_path / "h.jsonl") == GOOD["sequential"]


async def test_two_workers_keep_the_invariants(servers, settings):
    stack = Stack(settings, servers.superuser_url(settings.database_url.rpartition("/")[2]))
    users = await asyncio.to_thread(run.sign_up, stack, "history")
    plan = Plan(seed=7, seconds=25, faults=False, enough=300, floor=300)
    with contextlib.ExitStack() as processes:
        workers = processes.enter_context(run.service(stack))
        verdict = await run.play(stack, workers, users, plan)
    assert verdict.violations == []
    assert verdict.conclusive, str(verdict)
    assert verdict.replayed > 0
