"""Pages of lists: how many items, where the next page begins, and when large texts end a page early."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from app.kit import cursor
from app.kit.schema import Pagination

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

DEFAULT_LIMIT = 20
MAX_LIMIT = 100
PAGE_BYTES = 8 * 1024 * 1024
"""A page of versions ends early when their texts are larger than this together; one version always fits."""


class Row(Protocol):
    """What is read of a database row."""

    def __getitem__(self, key: str, /) -> Any:
        """Give a column."""

    def items(self) -> Iterable[tuple[str, Any]]:
        """Give all columns."""
        ...


def clamped(limit: int) -> tuple[int, str | None]:
    """Cut a limit to the cap, and say so when it was over."""
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
    """Point to the item after the first `limit` rows; `rows` holds one more than fits when there is more."""
    if len(rows) <= limit:
        return Pagination(cursor=None, has_more=False)
    last = rows[limit - 1]
    return Pagination(cursor=cursor.encode(last["created_at"], last["id"]), has_more=True)
