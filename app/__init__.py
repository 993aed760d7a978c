"""A multi-tenant context repository for AI agents."""

from __future__ import annotations


def version() -> str:
    """Give the installed version."""
    from importlib.metadata import version as installed  # slower to load than all that a small process does

    return installed("context-repo")
