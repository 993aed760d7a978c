"""What the gate needs of features, as callables that the composition root fills in."""

from __future__ import annotations

import hashlib
import time
from typing import Protocol

from app.gate.principal import Principal


class CredentialResolver(Protocol):
    """Turn the text of a credential into its principal."""

    async def __call__(self, credential: str, resource: str) -> Principal | None:
        """Return the principal; None when the credential is unknown, expired, revoked or bound to another resource."""


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
        # The credential itself is not kept in memory.
        slot = hashlib.sha256(f"{credential}\0{resource}".encode(errors="surrogatepass")).digest()
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
