"""What the trash needs of the features whose items it holds: each fills `BINS` and `ERASERS` in its `trash.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from uuid import UUID

    from app.gate.operation import Context
    from app.gate.policy import Scope
    from app.kit.guarded import Lease
    from app.store.tx import Tx

DAYS = 30
"""How long a deleted item can be restored."""


def in_trash(item_id: UUID) -> str:
    """Say of an item that was just deleted where it is, and how it comes back."""
    return (
        f"It lies in the trash for {DAYS} days: a person restores it on the dashboard's page Trash, a program with "
        f"POST /v1/trash/{item_id}/restore."
    )


@dataclass(frozen=True, slots=True)
class Bin:
    """How one kind of items comes back from the trash, or leaves it for good.

    Both are shown the caller's lease, which counts where an item is managed, and give the item's revision, or None when
    no such item is in the trash. `bury` takes the item's own text away and leaves a tombstone: id, revision, what must
    never be issued again.
    """

    kind: str
    read: Scope
    write: Scope
    restore: Callable[[Context, UUID, Lease], Awaitable[int | None]]
    bury: Callable[[Tx, UUID, Lease], Awaitable[int | None]]


@dataclass(frozen=True, slots=True)
class Eraser:
    """How a feature forgets what it keeps of a buried item; gives the numbers of rows that went, by name.

    What it locks beside the item itself is locked `before` the item: whoever works on that takes them in this order.
    """

    kind: str
    erase: Callable[[Tx, UUID], Awaitable[dict[str, int]]]
    before: Callable[[Tx, UUID], Awaitable[None]] | None = None
