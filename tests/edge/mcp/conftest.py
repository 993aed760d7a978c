"""Both eras as a parameter."""

from __future__ import annotations

import pytest

from tests.edge.mcp.wire import BOTH


@pytest.fixture(params=BOTH, ids=lambda era: era.version)
def era(request):
    """The latest handshake revision, then the stateless one."""
    return request.param
