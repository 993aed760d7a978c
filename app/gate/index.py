"""How features ask for the search index to follow what they wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.store.jobs import Job

if TYPE_CHECKING:
    from uuid import UUID

INDEX_JOB: Final = "index_workspace"
"""Brings the search index of one workspace up to date."""


def index_job(workspace_id: UUID) -> Job:
    """Ask for the index of a workspace to be brought up to date; asking twice costs little and loses nothing."""
    return Job(INDEX_JOB, {"workspace": str(workspace_id)}, merges=True)
