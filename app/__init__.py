"""A multi-tenant context repository for AI agents."""

from __future__ import annotations

from importlib.metadata import version as _version


def version() -> str:
    """Give the installed version."""
    return _version("context-repo")
