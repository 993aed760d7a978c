"""What the clients saw: one `Call` for each request on one monotonic clock, kept as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

UNKNOWN = 0
"""Status of a call whose outcome nobody knows: timeout, broken connection; a 5xx counts the same."""
_REFUSED_FOR_NOW = frozenset({"IDEMPOTENCY_IN_PROGRESS", "RATE_LIMITED"})


@dataclass(frozen=True)
class Call:
    """One request and what came back; calls of one `op` are tries of the same request under the same key."""

    op: str
    kind: str
    """`get`, `patch`, `restore`, `versions`, `misuse` (the key of another request), `acquire`, `renew`, `release`, or
    `final` (after the faults)."""
    document: str
    invoked: float
    returned: float
    status: int = UNKNOWN
    body: str = ""
    etag: str = ""
    key: str = ""
    expected: int | None = None
    content: str = ""
    replayed: bool = False
    worker: int = 0
    managed: bool = False
    """Whether the document is lease-managed."""
    fence: int | None = None
    """Of the lease that the request shows."""

    @property
    def writes(self) -> bool:
        """Whether it may have changed the document."""
        return self.kind in ("patch", "restore", "misuse")

    @property
    def known(self) -> bool:
        """Whether the outcome is known; "try again" says nothing about the request."""
        return 0 < self.status < 500 and self.reason not in _REFUSED_FOR_NOW

    @property
    def ok(self) -> bool:
        """Whether it was acknowledged."""
        return 200 <= self.status < 300

    @cached_property
    def answer(self) -> dict[str, Any]:
        """The decoded body."""
        found: dict[str, Any] = json.loads(self.body) if self.body else {}
        return found

    @property
    def reason(self) -> str:
        """The error's reason, empty for anything else."""
        return str(self.answer.get("error", {}).get("reason", "")) if self.status >= 400 else ""

    @property
    def state(self) -> tuple[int, str] | None:
        """The revision and content hash that the answer speaks of; None when it names none."""
        data: Any = self.answer.get("data")
        if self.ok and isinstance(data, dict) and "revision" in data:
            return data["revision"], data["contentHash"]
        if self.reason == "REVISION_MISMATCH":
            details = self.answer["error"]["details"]
            return details["currentRevision"], details["contentHash"]
        return None


def save(calls: Iterable[Call], path: Path) -> None:
    """Write a history."""
    path.write_text("".join(json.dumps(asdict(call)) + "\n" for call in calls), encoding="utf-8")


def load(path: Path) -> list[Call]:
    """Read a history."""
    return [Call(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
