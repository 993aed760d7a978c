"""What the gate needs of features, as callables that the composition root fills in."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from app.gate.principal import Principal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from uuid import UUID

    from app.kit.errors import AppError


class CredentialResolver(Protocol):
    """Turn the text of a credential into its principal."""

    async def __call__(self, credential: str, resource: str) -> Principal | None:
        """Return the principal; None when the credential is unknown, expired, revoked or bound to another resource."""


@dataclass(frozen=True, slots=True)
class Wording:
    """How a refusal looks on the wires, for an answer that holds several: the error and the request's id give it."""

    describe: Callable[[AppError, str], dict[str, Any]]


CACHE_SECONDS = 4.0
"""A revocation is seen by every process within this time."""

_CACHED = 20_000


class Cached:
    """A resolver that remembers principals for a few seconds; refusals are always asked again."""

    def __init__(self, resolver: CredentialResolver) -> None:
        self._resolver = resolver
        self._known: dict[bytes, tuple[float, Principal]] = {}

    async def __call__(self, credential: str, resource: str) -> Principal | None:
        """Return the remembered principal, or ask."""
        slot = _slot(credential, resource)
        known = self._known.get(slot)
        now = time.monotonic()
        if known is not None and now < known[0]:
            return known[1]
        principal = await self._resolver(credential, resource)
        if principal is not None:
            if len(self._known) >= _CACHED:
                self._known.clear()
            self._known[slot] = (now + CACHE_SECONDS, principal)
        return principal

    def knows(self, credential: str, resource: str) -> bool:
        """Tell whether the credential was good here before, if perhaps not any more."""
        return _slot(credential, resource) in self._known

    def forget(self, matches: Callable[[Principal], bool]) -> None:
        """Drop the remembered principals that match: their credentials are asked for again at once."""
        for slot in [slot for slot, (_, principal) in self._known.items() if matches(principal)]:
            del self._known[slot]


def _slot(credential: str, resource: str) -> bytes:
    """Digest a credential: the text itself is not kept in memory."""
    return hashlib.sha256(f"{credential}\0{resource}".encode(errors="surrogatepass")).digest()


class Revocations:
    """Tells this process's caches that a credential ended; other processes see it within `CACHE_SECONDS`."""

    def __init__(self, caches: Iterable[Cached]) -> None:
        self._caches = list(caches)

    def of_grant(self, grant_id: UUID) -> None:
        """Forget a grant."""
        self._forget(lambda principal: principal.grant_id == grant_id)

    def of_user(self, user_id: UUID) -> None:
        """Forget all credentials of a user."""
        self._forget(lambda principal: principal.user_id == user_id)

    def of_member(self, workspace_id: UUID, user_id: UUID) -> None:
        """Forget a user's credentials of one workspace."""
        self._forget(lambda principal: principal.user_id == user_id and principal.workspace_id == workspace_id)

    def _forget(self, matches: Callable[[Principal], bool]) -> None:
        for cache in self._caches:
            cache.forget(matches)
