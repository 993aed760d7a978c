"""Pages of lists: sizes, and the cursor that goes on after the last row (contract: 2.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeVar

from pydantic import Field

from app.kit import cursor
from app.kit.schema import Page, Pagination, Positive

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")

DEFAULT_LIMIT = 20
MAX_LIMIT = 100

PageSize = Annotated[Positive, Field(default=DEFAULT_LIMIT, description="Page size, 20 unless given, at most 100.")]
After = Annotated[str | None, Field(default=None, description="`pagination.cursor` of the page before.")]


class Row(Protocol):
    """A row of a list; its place in the order is (`created_at`, `id`)."""

    def __getitem__(self, key: str, /) -> Any:
        """Give a column."""


def clamped(limit: int) -> tuple[int, str | None]:
    """Cut a page size to the cap; the second value says so when it was cut."""
    if limit <= MAX_LIMIT:
        return limit, None
    return MAX_LIMIT, f"limit {limit} is over the cap; {MAX_LIMIT} items a page are returned."


def pagination(rows: Sequence[Row], limit: int) -> Pagination:
    """Tell where to go on; `rows` holds one more than `limit` when there are more."""
    if len(rows) <= limit:
        return Pagination(cursor=None, has_more=False)
    last = rows[limit - 1]
    return Pagination(cursor=cursor.encode(last["created_at"], last["id"]), has_more=True)


def paged(rows: Sequence[Row], limit: int, notice: str | None, make: Callable[[Any], T]) -> Page[T]:
    """Make a page of rows that were asked for with one more than `limit`."""
    return Page(data=[make(row) for row in rows[:limit]], pagination=pagination(rows, limit), notice=notice)
