"""No row of the contract without a promise, no promise without a test."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.contract.requirements import REQUIREMENTS
from tests.contract.rows import COUNTS, rows

TESTS = Path(__file__).parents[1]


def proofs() -> Iterator[tuple[str, str]]:
    """Give each id that a test names, with the test."""
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for mark in node.decorator_list:
                    if isinstance(mark, ast.Call) and getattr(mark.func, "id", "") == "proves":
                        place = f"{path.relative_to(TESTS.parent)}::{node.name}"
                        yield from ((str(arg.value), place) for arg in mark.args if isinstance(arg, ast.Constant))


def test_every_requirement_is_proved_by_a_test():
    assert sorted(REQUIREMENTS.keys() - {name for name, _ in proofs()}) == []


def test_no_test_proves_an_unknown_requirement():
    assert sorted({name for name, _ in proofs()} - REQUIREMENTS.keys()) == []


def test_every_row_of_the_contract_has_known_promises():
    assert Counter(section for section, *_ in rows()) == COUNTS
    for section, words, ids in rows():
        assert ids, (section, words)
        assert set(ids) <= REQUIREMENTS.keys(), (section, words)
