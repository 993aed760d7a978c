"""What the processes write to standard error."""

from __future__ import annotations

import logging

import pytest

from app import logs


@pytest.fixture(autouse=True)
def _restored():
    """Leave logging to the test runner as it was."""
    root, own = logging.getLogger(), logging.getLogger("app")
    handlers, levels = root.handlers[:], (root.level, own.level)
    yield
    root.handlers[:] = handlers
    root.setLevel(levels[0])
    own.setLevel(levels[1])


@pytest.mark.parametrize(
    ("level", "own", "theirs"),
    [
        ("DEBUG", logging.DEBUG, logging.INFO),
        ("INFO", logging.INFO, logging.INFO),
        ("ERROR", logging.ERROR, logging.ERROR),
    ],
)
def test_libraries_never_write_their_debug_lines(level, own, theirs):
    logs.configure(level)
    assert logging.getLogger("app.access").getEffectiveLevel() == own
    for name in ("markdown_it.rules_block.heading", "mcp.server", "pgqueuer", "asyncio"):
        assert logging.getLogger(name).getEffectiveLevel() == theirs
