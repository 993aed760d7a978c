"""No promise without a test."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.contract.requirements import REQUIREMENTS

TESTS = Path(__file__).parents[1]


def proved_ids():
    for path in TESTS.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for mark in node.decorator_list:
                    if isinstance(mark, ast.Call) and getattr(mark.func, "id", "") == "proves":
                        yield from (argument.value for argument in mark.args if isinstance(argument, ast.Constant))


def test_every_requirement_is_proved_by_a_test():
    assert sorted(REQUIREMENTS.keys() - set(proved_ids())) == []


def test_no_test_proves_an_unknown_requirement():
    assert sorted(set(proved_ids()) - REQUIREMENTS.keys()) == []
