"""Resolves access tokens for the gate."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from app.features.oauth import queries
from app.gate.policy import Scope
from app.gate.principal import CredentialKind
from app.kit.errors import Unauthenticated

if TYPE_CHECKING:
    from app.features.accounts.service import Principals
    from app.gate.principal import Principal
    from app.store.postgres import Database

PREFIX = "ctxa_"


class AccessTokens:
    """The resolver of `Bearer` credentials; a token is good on the one surface that it was issued for."""

    def __init__(self, database: Database, principals: Principals) -> None:
        self._database = database
        self._principals = principals

    async def __call__(self, credential: str, resource: str) -> Principal | None:
        """Return the token's principal; None for a token that is unknown, expired or revoked.

        Raises:
            Unauthenticated: the token is for another surface; the message names the resource to ask for.
        """
        if not credential.startswith(PREFIX):
            return None
        row = await queries.get_access_token(self._database, hashlib.sha256(credential.encode()).digest())
        if row is None:
            return None
        if row["resource"] != resource:
            msg = f"This token is for {row['resource']}. Ask the authorization server for one with resource={resource}"
            raise Unauthenticated(msg, presented=True)
        scopes = frozenset(Scope(scope) for scope in row["scopes"])
        grant_id = row["grant_id"]
        return self._principals.build(row, CredentialKind.OAUTH, grant_id, scopes, credential_id=grant_id)
