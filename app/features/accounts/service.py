"""Rules of accounts that other parts may call."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.features.accounts import queries
from app.features.accounts.schemas import ADDRESS
from app.gate.policy import Role, Scope, implied
from app.gate.principal import Principal
from app.kit.errors import InvalidRequest
from app.kit.ids import new_id

if TYPE_CHECKING:
    from uuid import UUID

    import asyncpg

    from app.gate.operation import Context
    from app.gate.policy import Plans
    from app.gate.principal import CredentialKind
    from app.store.postgres import Database
    from app.store.tx import Tx

_ADDRESS = re.compile(ADDRESS)


def is_address(email: str) -> bool:
    """Tell whether a text can be an e-mail address."""
    return _ADDRESS.fullmatch(email) is not None


async def audit(
    tx: Tx,
    action: str,
    *,
    user_id: UUID | None = None,
    workspace_id: UUID | None = None,
    subject: str | None = None,
    address: str | None = None,
) -> None:
    """Write what happened to an account where no operation did it, in the transaction that did."""
    await queries.insert_audit(tx, action, user_id, workspace_id, subject, address)


async def record(ctx: Context, action: str, workspace_id: UUID | None, subject: str | None = None) -> None:
    """Write what an operation did to an account, a key or a member: by whom, with which grant, in which request."""
    await queries.insert_call(ctx, action, workspace_id, subject)


async def insert_person(tx: Tx, user_id: UUID, email: str, name: str) -> bool:
    """Make a user whose personal workspace is the transaction's; False when the address is taken."""
    return await queries.insert_person(tx, user_id, email, name)


async def create_user(database: Database, email: str) -> dict[str, Any]:
    """Create a user with a personal workspace; an address that is taken gives the user who has it.

    Raises:
        InvalidRequest: the text is no e-mail address.
    """
    if not is_address(email):
        msg = f"{email!r} is not an e-mail address."
        raise InvalidRequest(msg)
    row = await queries.insert_user(database, new_id(), email, email.partition("@")[0], new_id())
    created = row is not None
    row = row or await queries.get_user(database, email)
    assert row is not None
    return {"userId": str(row["user_id"]), "workspaceId": str(row["workspace_id"]), "email": email, "created": created}


@dataclass(frozen=True, slots=True)
class Principals:
    """Makes principals of rows of the view `principals`, whatever credential led to the row."""

    plans: Plans
    default_plan: str

    def build(
        self,
        row: asyncpg.Record,
        kind: CredentialKind,
        grant_id: UUID,
        scopes: frozenset[Scope],
        credential_id: UUID | None = None,
    ) -> Principal:
        """Make the principal: scopes widened by implication and cut to the member's role."""
        role = Role(row["role"])
        granted = implied(scopes)
        name = self._plan_name(row)
        return Principal(
            user_id=row["user_id"],
            user_name=row["user_name"],
            workspace_id=row["workspace_id"],
            role=role,
            kind=kind,
            grant_id=grant_id,
            scopes=granted & role.scopes,
            plan=self.plans.plans.get(name) if name else None,
            plan_unavailable=name is not None and name not in self.plans.plans,
            credential_id=credential_id,
            is_unrestricted=granted.issuperset(Scope),
        )

    def _plan_name(self, row: asyncpg.Record) -> str | None:
        """Choose the plan: the subscription's, none when it lapsed, the default without a subscription."""
        name: str | None = row["plan"] if row["subscribed"] else self.default_plan
        return None if row["lapsed"] else name
