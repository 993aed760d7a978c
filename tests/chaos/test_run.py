"""The run itself ends, with words, where it cannot go on."""

from __future__ import annotations

import types

import pytest

from tests.chaos import run
from tests.chaos.clients import Document


async def test_a_document_that_never_appears_ends_the_run_and_is_named(monkeypatch):
    async def absent(_port, _request):
        return 404, {}, "not there"

    monkeypatch.setattr(run, "exchange", absent)
    monkeypatch.setattr(run, "_VISIBLE_SECONDS", 0.1)
    with pytest.raises(AssertionError, match=r"document lost could not be read within 0\.1 s: 404 not there"):
        await run._manage(types.SimpleNamespace(port=1), Document("lost", ("key",)))
