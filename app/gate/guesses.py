"""Limits wrong credentials by the address that they come from; right ones cost nothing here."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from app.gate.policy import Limit
from app.kit.errors import RateLimited

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.gate.limiter import Limiter

    Address = Callable[[], str]
    """Works an address out: called only when something was wrong."""

LIMIT = Limit(300, 60)
"""Wide, since one address may be the back end of many people's client, whose tokens run out."""

_HELD = 10_000


class Guesses:
    """Counts an address's wrong credentials in all processes; this one remembers who has spent them."""

    def __init__(self, limiter: Limiter) -> None:
        self._limiter = limiter
        self._spent: dict[str, float] = {}

    @property
    def any(self) -> bool:
        """Whether any address has spent its guesses: else nothing has to be looked up."""
        return bool(self._spent)

    def check(self, address: Address) -> None:
        """Refuse an address that guessed too often, before its credential is looked at.

        Raises:
            RateLimited: until as many of its guesses are a minute old.
        """
        now, subject = time.monotonic(), address()
        until = self._spent.get(subject, now)
        if until > now:
            raise _refusal(int(until - now) + 1)
        self._spent.pop(subject, None)

    async def count(self, address: Address) -> None:
        """Count a wrong credential.

        Raises:
            RateLimited: it is one too many.
        """
        subject = address()
        state = await self._limiter.spend(f"address:{subject}", "credentials", LIMIT)
        if not state.allowed:
            if len(self._spent) >= _HELD:
                self._spent.clear()
            self._spent[subject] = time.monotonic() + state.reset_seconds
            raise _refusal(state.reset_seconds)


def _refusal(seconds: int) -> RateLimited:
    msg = f"Too many wrong credentials came from this address; correct yours and retry after {seconds} s."
    return RateLimited(msg, limit=LIMIT.count, retry_after=seconds)
