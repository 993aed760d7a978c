"""Resolves API keys for the gate."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.features.accounts.service import Principals
from app.features.keys import queries
from app.gate.policy import Scope
from app.gate.principal import CredentialKind
from app.kit.secrets import parse_api_key

if TYPE_CHECKING:
    from app.gate.principal import Principal
    from app.store.postgres import Database


class ApiKeys:
    """The resolver of `API-Key` credentials; a key is good on every surface."""

    def __init__(self, database: Database, principals: Principals) -> None:
        self._database = database
        self._principals = principals

    async def __call__(self, credential: str, resource: str) -> Principal | None:  # noqa: ARG002  any surface
        """Return the key's principal; None for a key that is malformed, unknown, expired or revoked."""
        key = parse_api_key(credential)
        if key is None:
            return None
        row = await queries.get_key(self._database, key.public_id)
        if row is None or not key.matches(row["secret_hash"]):
            return None
        scopes = frozenset(Scope(scope) for scope in row["scopes"])
        made = self._principals.build(row, CredentialKind.API_KEY, row["grant_id"], scopes, row["credential_id"])
        collections = row["collection_ids"]
        return made if collections is None else replace(made, collections=tuple(collections))
