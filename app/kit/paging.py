"""Pages of lists: sizes, the cursor that goes on after the last row, and large texts that end a page early."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeVar

from pydantic import Field

from app.kit import cursor
from app.kit.schema import Page, Pagination, Positive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

T = TypeVar("T")

DEFAULT_LIMIT = 20
MAX_LIMIT = 100
PAGE_BYTES = 8 * 1024 * 1024
"""A page of versions ends early when their texts are larger than this together; one version always fits."""

PageSize = Annotated[Positive, Field(default=DEFAULT_LIMIT, description="Page size, 20 unless given, at most 100.")]
After = Annotated[str | None, Field(default=None, description="`pagination.cursor` of the page before.")]


class Row(Protocol):
    """A row of a list; its place in the order is (`created_at`, `id`)."""

    def __getitem__(self, key: str, /) -> Any:
        """Give a column."""

    def items(self) -> Iterable[tuple[str, Any]]:
        """Give all columns."""
        ...


def clamped(limit: int) -> tuple[int, str | None]:
    """Cut a page size to the cap; the second value says so when it was cut."""
    if limit <= MAX_LIMIT:
        return limit, None
    return MAX_LIMIT, f"limit {limit} is over the cap; {MAX_LIMIT} items a page are returned."


def fitting(rows: Sequence[Row], limit: int, notice: str | None) -> tuple[list[dict[str, Any]], str | None]:
    """Keep the rows of a page whose texts fit into it (their `fits`, which is dropped), and say when it ends early."""
    found = [{key: value for key, value in row.items() if key != "fits"} for row in rows if row["fits"]][:limit]
    if len(found) < min(limit, len(rows)):
        notice = f"These texts are large, so this page ends after {len(found)}; the cursor goes on."
    return found, notice


def pagination(rows: Sequence[Row], limit: int) -> Pagination:
    """Tell where to go on; `rows` holds one more than `limit` when there are more."""
    if len(rows) <= limit:
        return Pagination(cursor=None, has_more=False)
    last = rows[limit - 1]
    return Pagination(cursor=cursor.encode(last["created_at"], last["id"]), has_more=True)


def paged(rows: Sequence[Row], limit: int, notice: str | None, make: Callable[[Any], T]) -> Page[T]:
    """Make a page of rows that were asked for with one more than `limit`."""
    return Page(data=[make(row) for row in rows[:limit]], pagination=pagination(rows, limit), notice=notice)
