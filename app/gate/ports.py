"""What the gate needs of features, as callables that the composition root fills in."""

from __future__ import annotations

from typing import Protocol

from app.gate.principal import Principal


class CredentialResolver(Protocol):
    """Turn the text of a credential into its principal."""

    async def __call__(self, credential: str) -> Principal | None:
        """Return the principal; None when the credential is unknown, expired or revoked.

        Raises:
            EntitlementUnavailable: the plan of the workspace cannot be read.
        """
