"""Pages of lists: sizes, the cursor that goes on after the last row, and large texts that end a page early."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeVar

from pydantic import Field

from app.kit import cursor
from app.kit.schema import Model, Page, Pagination, Positive, RestOnly

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime
    from uuid import UUID

T = TypeVar("T")

DEFAULT_LIMIT = 20
MAX_LIMIT = 100
PAGE_BYTES = 8 * 1024 * 1024
"""A page of versions ends early when their texts are larger than this together; one version always fits."""

PageSize = Annotated[Positive, Field(default=DEFAULT_LIMIT, description="Page size, 20 unless given, at most 100.")]
After = Annotated[str | None, Field(default=None, description="`pagination.cursor` of the page before.")]


class Sort(StrEnum):
    """By which time a list is ordered, the latest first."""

    CREATED = "created"
    CHANGED = "changed"

    @property
    def column(self) -> str:
        """Name the column of that time."""
        return {Sort.CREATED: "created_at", Sort.CHANGED: "last_changed_at"}[self]

    @property
    def order(self) -> str:
        """Name the order as cursors do: that of creation goes without saying."""
        return "" if self is Sort.CREATED else self.value


class Sorted(Model):
    """Arguments of a list that has several orders."""

    sort: Annotated[
        Sort,
        RestOnly(),
        Field(
            default=Sort.CREATED,
            description="The newest first, or what was changed last; what changes meanwhile comes to the front.",
        ),
    ]


class Row(Protocol):
    """A row of a list; its place in the order is (`created_at`, `id`), or that of another `Sort`."""

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


def place_after(given: str | None, sort: Sort = Sort.CREATED) -> tuple[datetime, UUID] | None:
    """Read where to go on, if a cursor was given."""
    return cursor.decode(given, sort.order) if given else None


def pagination(rows: Sequence[Row], limit: int, sort: Sort = Sort.CREATED) -> Pagination:
    """Tell where to go on; `rows` holds one more than `limit` when there are more."""
    if len(rows) <= limit:
        return Pagination(cursor=None, has_more=False)
    last = rows[limit - 1]
    return Pagination(cursor=cursor.encode(last[sort.column], last["id"], sort.order), has_more=True)


def paged(
    rows: Sequence[Row], limit: int, notice: str | None, make: Callable[[Any], T], sort: Sort = Sort.CREATED
) -> Page[T]:
    """Make a page of rows that were asked for with one more than `limit`."""
    return Page(data=[make(row) for row in rows[:limit]], pagination=pagination(rows, limit, sort), notice=notice)
