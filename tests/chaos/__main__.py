"""`python -m tests.chaos --seconds N --seed S [--quick] [--mutants]`: the service under faults, judged by history."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path
from random import SystemRandom

import asyncpg

from tests.chaos import mutants, run
from tests.chaos.run import Plan
from tests.support import stack as stacks
from tests.support.stack import Stack

MUTANT_SECONDS = 10.0
MUTANT_ANSWERS = 500
MUTANT_TRIES = 4
"""Seeds that a mutant may survive: some faults show only when a client does a rare thing at the right moment."""
_KILLED = ("receipt_in_second_transaction", "answered_before_commit")
"""Mutants that only a crash shows."""
_WHOLE = (*_KILLED, *mutants.LEASES)
"""Mutants that need their whole time: leases have to run out."""


def storm(stack: Stack, seed: int, seconds: float, *, faults: bool = True) -> bool:
    """Run one seed and print its line; tell whether it was clean and conclusive."""
    plan = Plan(seed, seconds, faults, floor=int(seconds * run.ANSWERED_PER_SECOND))
    with run.service(stack) as workers:
        verdict = asyncio.run(run.play(stack, workers, run.sign_up(stack, f"seed{seed}"), plan))
    print(verdict, flush=True)
    for violation in verdict.violations[:20]:
        print(f"  {violation}")
    return verdict.conclusive and not verdict.violations


def caught(stack: Stack, name: str, seed: int) -> bool:
    """Run one mutant, seed after seed, and tell whether a history was found faulty."""
    for attempt in range(MUTANT_TRIES):
        verdict = _mutated(stack, name, seed + attempt)
        rules = sorted({violation.split(": ", 1)[1].split(" ")[0] for violation in verdict.violations})
        if rules:
            tries = f", try {attempt + 1}" if attempt else ""
            print(f"{name}: caught by {', '.join(rules)} ({verdict.answered} answered{tries})", flush=True)
            return True
    print(f"{name}: MISSED by {MUTANT_TRIES} seeds ({verdict.answered} answered)", flush=True)
    return False


def _mutated(stack: Stack, name: str, seed: int) -> run.Verdict:
    """Run one mutant until enough was answered."""
    users = run.sign_up(stack, f"{name.replace('_', '-')}-{seed}")
    plan = Plan(
        seed, MUTANT_SECONDS, faults=name in _KILLED, enough=0 if name in _WHOLE else MUTANT_ANSWERS, keep=False
    )
    asyncio.run(_install(stack, mutants.functions_sql(name)))
    try:
        with run.service(stack, "tests.chaos.mutants:app", **{mutants.MUTANT_ENV: name}) as workers:
            return asyncio.run(run.play(stack, workers, users, plan))
    finally:
        asyncio.run(_install(stack, mutants.functions_sql()))


async def _install(stack: Stack, sql: str) -> None:
    connection = await asyncpg.connect(stack.settings.database_url)
    try:
        await connection.execute(sql)
    finally:
        await connection.close()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--seconds", type=float, default=25.0)
    parser.add_argument("--seed", type=int, nargs="*", default=[])
    parser.add_argument("--quick", action="store_true", help="eight seconds without faults")
    parser.add_argument("--mutants", nargs="*", metavar="NAME", help="run the built-in mutants instead (all, or these)")
    return parser.parse_args()


def main() -> int:
    """Run what was asked for; 0 when the service was clean, or every mutant was caught."""
    options = _options()
    seeds = options.seed or [SystemRandom().randrange(1_000_000)]
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder, stacks.running(Path(folder), durable=True) as stack:
        if options.mutants is not None:
            results = [caught(stack, name, seeds[0]) for name in options.mutants or mutants.NAMES]
        else:
            seconds = 8.0 if options.quick else options.seconds
            results = [storm(stack, seed, seconds, faults=not options.quick) for seed in seeds]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
