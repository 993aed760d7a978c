"""Arguments and results of tags."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from app.kit.paging import After, PageSize
from app.kit.schema import Model


class ListTags(Model):
    """Which tags to list, in the order of their characters."""

    search: Annotated[str | None, Field(default=None, max_length=100, description="Only tags that hold this text.")]
    limit: PageSize
    cursor: After


class TagCount(Model):
    """A tag, and how many items carry it."""

    tag: str
    count: int
    kinds: Annotated[dict[str, int], Field(description="How many items of each kind.")]
