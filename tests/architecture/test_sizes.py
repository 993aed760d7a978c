"""Files and functions stay small enough to be read at once; there is no list of exceptions."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILE_LINES = {"app": 400, "migrations": 400, "tests": 600}
FUNCTION_LINES = 50


def sources(*folders):
    for folder in folders:
        yield from sorted((ROOT / folder).rglob("*.py"))


def test_no_file_is_too_long():
    long = {
        str(path.relative_to(ROOT)): lines
        for folder, most in FILE_LINES.items()
        for path in sources(folder)
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > most
    }
    assert long == {}


def test_no_function_is_too_long():
    long = {}
    for path in sources("app", "migrations"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or 0) - node.lineno + 1
                if lines > FUNCTION_LINES:
                    long[f"{path.relative_to(ROOT)}:{node.name}"] = lines
    assert long == {}
