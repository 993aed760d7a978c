"""Prints the contract's rows with their promises and numbers of tests; `--tests` names these."""

from __future__ import annotations

import sys
from collections import Counter

from tests.contract.requirements import REQUIREMENTS
from tests.contract.rows import rows
from tests.contract.test_manifest import proofs


def main() -> None:
    """Print the table."""
    tests: dict[str, list[str]] = {}
    for name, test in proofs():
        tests.setdefault(name, []).append(test)
    for section, words, ids in rows():
        told = ", ".join(f"{name} ({len(tests.get(name, ()))})" for name in ids)
        print(f"{section:>4}  {words}: {told}")
        if "--tests" in sys.argv:
            for name in ids:
                for test in tests.get(name, ()):
                    print(f"        {name}: {test}")
    counts = Counter(section for section, *_ in rows())
    print("\nrows: " + ", ".join(f"{section}: {count}" for section, count in counts.items()))
    print(f"{sum(counts.values())} rows, {len(REQUIREMENTS)} promises, {len(set(proofs()))} proofs")


main()
