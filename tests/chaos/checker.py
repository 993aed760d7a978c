"""Judges a history by the invariants of documents (D) and receipts (R); pure, and linear up to sorting.

Every answer names the revision it speaks of, so the order of writes is given and need not be searched: a versioned
register is linearizable if and only if reads and writes respect real time and each revision has one writer and value.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.chaos.history import Call

Rule = Callable[["Operations"], Iterator[str]]


@dataclass(frozen=True)
class Operation:
    """All tries of one request: it took effect, if at all, after the first began and before the first answer."""

    calls: tuple[Call, ...]

    @property
    def first(self) -> Call:
        """The earliest try."""
        return self.calls[0]

    @property
    def answers(self) -> list[Call]:
        """The tries with a known outcome."""
        return [call for call in self.calls if call.known]

    @property
    def acknowledged(self) -> Call | None:
        """The first success."""
        return next((call for call in self.answers if call.ok), None)

    @property
    def written(self) -> int | None:
        """The revision it made, as acknowledged."""
        found = self.acknowledged
        if found is None or not self.first.writes or found.answer["data"]["noop"]:
            return None
        return int(found.answer["data"]["revision"])

    @property
    def returned(self) -> float:
        """When the outcome was first known; never for an unknown one."""
        return min((call.returned for call in self.answers), default=math.inf)


@dataclass(frozen=True)
class Operations:
    """The history of one document."""

    document: str
    found: Sequence[Operation]
    final: Sequence[Mapping[str, Any]]
    """The versions at the end, oldest first; empty when they were not read."""


def _group(calls: Iterable[Call]) -> Iterator[Operations]:
    documents: dict[str, dict[str, list[Call]]] = defaultdict(lambda: defaultdict(list))
    final: dict[str, list[Any]] = {}
    for call in sorted(calls, key=lambda call: call.invoked):
        if call.kind == "final":
            final[call.document] = sorted(call.answer["data"], key=lambda version: version["revision"])
        else:
            documents[call.document][call.op].append(call)
    for document, operations in documents.items():
        found = [Operation(tuple(tries)) for tries in operations.values()]
        yield Operations(document, found, final.get(document, []))


def _one_value(history: Operations) -> Iterator[str]:
    """D1: one writer a revision, and everybody sees the same there."""
    writer: dict[int, str] = {}
    value: dict[int, str] = {version["revision"]: _seen(version) for version in history.final}
    hashes: dict[int, str] = {}
    for operation in history.found:
        if (revision := operation.written) is not None:
            op = operation.first.op
            if writer.setdefault(revision, op) != op:
                yield f"D1 two writers of revision {revision}: {writer[revision]} and {op}"
        for call in operation.answers:
            if call.state is not None:
                revision, content_hash = call.state
                if hashes.setdefault(revision, content_hash) != content_hash:
                    yield f"D1 two hashes of revision {revision}"
            for item in _contents(call):
                if value.setdefault(item["revision"], _seen(item)) != _seen(item):
                    yield f"D1 two values of revision {item['revision']}, seen by {call.op}"


def _contents(call: Call) -> list[Any]:
    data = call.answer.get("data") if call.ok else None
    if isinstance(data, list):
        return data
    return [data] if isinstance(data, dict) and "content" in data else []


def _seen(item: Mapping[str, Any]) -> str:
    return f"{item['title']}\x00{item['content']}\x00{item['tags']}"


def _steps(history: Operations) -> Iterator[str]:
    """D2: what is based on revision r made r + 1; the revisions have no gap, and neighbours differ."""
    for operation in history.found:
        revision, expected = operation.written, operation.first.expected
        if revision is not None and expected is not None and revision != expected + 1:
            yield f"D2 {operation.first.op} based on {expected} made {revision}"
    revisions = [version["revision"] for version in history.final]
    if revisions and revisions != list(range(1, len(revisions) + 1)):
        yield f"D2 the revisions are {revisions}"
    for before, after in zip(history.final, history.final[1:], strict=False):
        if _seen(before) == _seen(after):
            yield f"D2 revision {after['revision']} changed nothing"


def _kept(history: Operations) -> Iterator[str]:
    """D3 and R1: an acknowledged write is there once, at its revision; a refused or misused one is not there."""
    if not history.final:
        return
    made: dict[str, list[int]] = defaultdict(list)
    for version in history.final:
        made[version["changeLog"] or ""].append(version["revision"])
    for operation in history.found:
        call, revisions = operation.first, made.get(operation.first.op, [])
        if not call.writes:
            continue
        if len(revisions) > 1:
            yield f"R1 {call.op} took effect {len(revisions)} times"
        if operation.written is not None and operation.written not in revisions:
            yield f"D3 {call.op} was acknowledged as revision {operation.written} and is not there"
        if operation.answers and operation.written is None and revisions:
            yield f"R8 {call.op} was answered {operation.answers[0].status} and yet made {revisions}"


@dataclass(frozen=True)
class Sight:
    """An instant within (invoked, returned) at which a revision was current, or was made."""

    op: str
    invoked: float
    returned: float
    revision: int
    written: bool


def _sights(history: Operations) -> Iterator[Sight]:
    for operation in history.found:
        acknowledged = operation.acknowledged
        if acknowledged is not None and operation.first.writes:
            # Replays repeat what the first execution saw, whichever try that was.
            assert acknowledged.state is not None
            revision = acknowledged.state[0]
            written = operation.written is not None
            yield Sight(acknowledged.op, operation.first.invoked, operation.returned, revision, written)
            continue
        for call in operation.answers:
            if call.state is not None:
                yield Sight(call.op, call.invoked, call.returned, call.state[0], written=False)


def _real_time(history: Operations) -> Iterator[str]:
    """D4 and D5: nobody sees less than what was seen before he asked, nor what was begun after he was answered."""
    sights = sorted(_sights(history), key=lambda sight: sight.returned)
    ends = [sight.returned for sight in sights]
    highest = list(itertools.accumulate((sight.revision for sight in sights), max))
    begun = {sight.revision: sight.invoked for sight in sights if sight.written}
    for sight in sights:
        before = bisect.bisect_left(ends, sight.invoked)
        floor = highest[before - 1] if before else 0
        if floor > sight.revision or (sight.written and floor >= sight.revision):
            yield f"D4 {sight.op} speaks of revision {sight.revision} after {floor} had been seen"
        if begun.get(sight.revision, 0.0) > sight.returned:
            yield f"D4 {sight.op} saw revision {sight.revision} before it was begun"


def _refusals(history: Operations) -> Iterator[str]:
    """D5: a refusal names another revision than the expected one; `noop` means that the expected one is current."""
    for operation in history.found:
        expected = operation.first.expected
        for call in operation.answers:
            if call.state is None or expected is None:
                continue
            if call.reason == "REVISION_MISMATCH" and call.state[0] == expected:
                yield f"D5 {call.op} was refused though {expected} is current"
            if call.ok and operation.first.writes and call.answer["data"]["noop"] and call.state[0] != expected:
                yield f"D5 {call.op} based on {expected} was called a noop of {call.state[0]}"


def _replays(history: Operations) -> Iterator[str]:
    """R2, R3, R6: one answer for ever for one key; a key taken for another request is refused, and only that one."""
    for operation in history.found:
        call = operation.first
        answers = {(a.status, a.body, a.etag) for a in operation.answers if a.ok}
        refusals = {a.status for a in operation.answers if not a.ok}
        if len(answers) > 1:
            yield f"R2 {call.op} was answered in {len(answers)} ways"
        if answers and refusals and call.kind != "acquire":  # a lease that was held is free later
            yield f"R2 {call.op} was both acknowledged and refused ({sorted(refusals)})"
        if call.kind == "misuse" and answers:
            yield f"R3 {call.op} was answered with the key of another request"
        if call.kind != "misuse" and 422 in refusals:
            yield f"R6 {call.op} was refused for a key that nobody else in its scope had used"


_REASONS = ("REVISION_MISMATCH", "IDEMPOTENCY_KEY_REUSED")
_LEASE_REASONS = (*_REASONS, "LEASE_HELD", "LEASE_LOST", "LEASE_REQUIRED")


def _possible(history: Operations) -> Iterator[str]:
    """C1: no answer outside the contract: clients send nothing malformed."""
    for operation in history.found:
        for call in operation.answers:
            if not call.ok and call.reason not in (_LEASE_REASONS if call.managed else _REASONS):
                yield f"C1 {call.op} was answered {call.status} {call.reason}"


RULES: tuple[Rule, ...] = (_one_value, _steps, _kept, _real_time, _refusals, _replays, _possible)
"""Of every document; those of leases stand in `lease_rules`. Each rule sees one document's operations."""


def check(calls: Iterable[Call], rules: Iterable[Rule] = RULES) -> list[str]:
    """Return every violation, empty for a history without fault."""
    rules = tuple(rules)
    return [f"{h.document}: {fault}" for h in _group(calls) for rule in rules for fault in rule(h)]
