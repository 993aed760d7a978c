"""Resolves API keys for the gate, with a short cache: a revocation is seen by every worker within `CACHE_SECONDS`."""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING

from app.features.keys import queries
from app.gate.policy import Role, Scope, implied
from app.gate.principal import CredentialKind, Principal
from app.kit.errors import EntitlementUnavailable
from app.kit.secrets import parse_api_key

if TYPE_CHECKING:
    import asyncpg

    from app.gate.policy import Plan, Plans
    from app.store.postgres import Database

CACHE_SECONDS = 4.0
_CACHED = 20_000
_RETRY_SECONDS = 5


class ApiKeys:
    """The resolver of `API-Key` credentials."""

    def __init__(self, database: Database, plans: Plans, default_plan: str) -> None:
        self._database = database
        self._plans = plans
        self._default_plan = default_plan
        self._cache: dict[bytes, tuple[float, Principal]] = {}

    async def __call__(self, credential: str) -> Principal | None:
        """Return the key's principal; None for a key that is malformed, unknown, expired or revoked."""
        slot = hashlib.sha256(credential.encode()).digest()  # the key itself is not kept in memory
        cached = self._cache.get(slot)
        now = time.monotonic()
        if cached is not None and now < cached[0]:
            return cached[1]
        principal = await self._resolve(credential)
        if principal is not None:
            if len(self._cache) >= _CACHED:
                self._cache.clear()
            self._cache[slot] = (now + CACHE_SECONDS, principal)
        return principal

    async def _resolve(self, credential: str) -> Principal | None:
        key = parse_api_key(credential)
        if key is None:
            return None
        row = await queries.get_key(self._database, key.public_id)
        if row is None or not key.matches(row["secret_hash"]):
            return None
        role = Role(row["role"])
        return Principal(
            user_id=row["user_id"],
            user_name=row["user_name"],
            workspace_id=row["workspace_id"],
            role=role,
            kind=CredentialKind.API_KEY,
            grant_id=row["grant_id"],
            scopes=implied(frozenset(Scope(scope) for scope in row["scopes"])) & role.scopes,
            plan=self._plan(row),
        )

    def _plan(self, row: asyncpg.Record) -> Plan | None:
        """Choose the plan: the subscription's, none when it lapsed, the default without a subscription."""
        name = row["plan"] if row["subscribed"] else self._default_plan
        if name is None or row["lapsed"]:
            return None
        plan = self._plans.plans.get(name)
        if plan is None:
            msg = "The plan of this workspace cannot be read just now; retry shortly."
            raise EntitlementUnavailable(msg, retry_after=_RETRY_SECONDS)
        return plan
