"""Interleaved slices, paired ratios, and CPU time per request of the server process."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.bench.client import Order, dump
from tests.support.stack import ServerProcess

CONNECTIONS = 8
_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="latin-1").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


class Client:
    """The load client's process."""

    def __init__(self, cpu: int | None) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.bench.client", str(CONNECTIONS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        if cpu is not None:
            os.sched_setaffinity(self._process.pid, {cpu})

    def run(self, order: Order) -> dict[str, Any]:
        """Have an order served."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(dump(order) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=10)


@dataclass
class Case:
    """One thing to measure: a server, and the order it is given each slice."""

    name: str
    server: ServerProcess
    order: Callable[[float], Order]
    rates: list[float] = field(default_factory=list)
    cpus: list[float] = field(default_factory=list)
    p50s: list[float] = field(default_factory=list)
    learn: Callable[[list[int]], None] = lambda _: None

    def slice(self, client: Client, seconds: float, *, keep: bool = True) -> None:
        """Run one slice; a refused request makes the figures meaningless, so it ends the run."""
        before = cpu_seconds(self.server.pid)
        answer = client.run(self.order(seconds))
        spent = cpu_seconds(self.server.pid) - before
        self.learn(answer["revisions"])
        if answer["refused"]:
            msg = f"{self.name}: {answer['refused']} of {answer['requests']} requests were refused"
            raise RuntimeError(msg)
        if keep:
            self.rates.append(answer["requests"] / answer["seconds"])
            self.cpus.append(spent / answer["requests"])
            self.p50s.append(answer["p50"])

    @property
    def cpu(self) -> float:
        """CPU seconds per request: the least of the rounds is the least disturbed."""
        return min(self.cpus)


@dataclass(frozen=True)
class Row:
    """A subject against what it is measured by; the denominator may be a sum of parts (weight, case)."""

    name: str
    subject: Case
    parts: tuple[tuple[float, Case], ...]
    must: float
    goal: float

    @property
    def ratio(self) -> float:
        """Median over rounds of the throughput ratio; times per request add up."""
        rounds = range(len(self.subject.rates))
        return statistics.median(
            sum(weight / case.rates[i] for weight, case in self.parts) * self.subject.rates[i] for i in rounds
        )

    @property
    def cpu_ratio(self) -> float:
        """The same by CPU time."""
        return sum(weight * case.cpu for weight, case in self.parts) / self.subject.cpu

    @property
    def missed(self) -> bool:
        """Whether both figures are below the bar: one alone may be noise."""
        return self.ratio < self.must and self.cpu_ratio < self.must

    def report(self) -> dict[str, Any]:
        """Give the figures for JSON."""
        return {
            "row": self.name,
            "ratio": round(self.ratio, 3),
            "cpuRatio": round(self.cpu_ratio, 3),
            "cpuMicroseconds": round(self.subject.cpu * 1e6),
            "againstMicroseconds": round(sum(weight * case.cpu for weight, case in self.parts) * 1e6),
            "p50ms": round(statistics.median(self.subject.p50s) * 1000, 2),
            "must": self.must,
            "goal": self.goal,
        }
