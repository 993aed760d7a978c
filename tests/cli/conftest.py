"""The embedding model, shared with the tests of features."""

from __future__ import annotations

from tests.features.conftest import model

__all__ = ["model"]
