"""Visitors of the pages."""

from __future__ import annotations

import pytest

from tests.support.visitor import Visitor


@pytest.fixture
def visitor(service):
    """A browser that was never here."""
    return Visitor(service)
