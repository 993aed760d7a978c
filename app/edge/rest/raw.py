"""Routes that are not operations: each says why, and how often it may be called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request
    from starlette.responses import Response


@dataclass(frozen=True, slots=True)
class Raw:
    """A wire that is not an operation: its path, the reason for it, and its rate ("none": costs nothing to answer)."""

    path: str
    endpoint: Callable[[Request], Awaitable[Response]]
    why: str
    rate: str
    methods: tuple[str, ...] = ("GET",)
