"""Calls of a model that may fail for a while: a bounded number of tries within a bounded time.

A server that says when to come back (`Retry-After`) is heard; where that is after the time is over, nobody waits.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, TypeVar

from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_exponential_jitter

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tenacity import RetryCallState

T = TypeVar("T")
_GROWING: Final = wait_exponential_jitter(multiplier=0.2, max=5)


class CallFailed(Exception):
    """The model gave nothing that is of use; the message is for callers and holds nothing of the address or the key.

    `again` says that another try may help, `after` how many seconds the server wants to be left alone before; `refusal`
    is what it said to a request that it did not understand, for programs alone.
    """

    def __init__(self, why: str, *, again: bool = False, after: float = 0.0, refusal: bytes = b"") -> None:
        super().__init__(why)
        self.again = again
        self.after = after
        self.refusal = refusal


async def patiently(call: Callable[[], Awaitable[T]], *, tries: int, seconds: float) -> T:
    """Call until it succeeds, with growing pauses.

    Raises:
        CallFailed: what the last try failed with, or that the time is over.
    """
    ends = asyncio.get_running_loop().time() + seconds

    def helps(error: BaseException) -> bool:
        left = ends - asyncio.get_running_loop().time()
        return isinstance(error, CallFailed) and error.again and error.after < left

    async def once() -> T:
        return await call()

    retrying = AsyncRetrying(stop=stop_after_attempt(tries), wait=_pause, retry=retry_if_exception(helps), reraise=True)
    try:
        async with asyncio.timeout_at(ends):
            return await retrying(once)
    except TimeoutError as error:
        raise CallFailed(f"it did not answer within {seconds:g} s") from error


def _pause(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    return max(_GROWING(state), error.after if isinstance(error, CallFailed) else 0.0)
