"""Whom an issuer's subject is here: found, matched by a verified address, or made."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from app.features.accounts import service as accounts
from app.features.issuer import queries
from app.features.issuer.errors import NoAccount
from app.kit.ids import new_id

if TYPE_CHECKING:
    from app.features.issuer.schemas import Bearer
    from app.store.postgres import Database

_MAX_NAME = 100


class _Raced(Exception):
    """The same person's other request was first."""


async def admit(database: Database, issuer: str, bearer: Bearer, *, signup: str) -> None:
    """Bind a subject that comes for the first time to a user.

    A verified address leads to the user who has it; whoever else comes gets an account where everybody may (`open`).

    Raises:
        NoAccount: there is no such user, and accounts are not made by themselves.
    """
    if bearer.email and await queries.link(database, issuer, bearer.subject, bearer.email):
        return
    if signup != "open":
        raise NoAccount
    with contextlib.suppress(_Raced):
        await _create(database, issuer, bearer)


async def _create(database: Database, issuer: str, bearer: Bearer) -> None:
    user_id, workspace_id = new_id(), new_id()
    name = " ".join("".join(filter(str.isprintable, bearer.name)).split())[:_MAX_NAME]
    async with database.tx(workspace_id) as tx:
        nobodys = f"{user_id}@unknown.invalid"  # RFC 2606: reaches nobody, so that nobody can claim it by mail
        called = name or bearer.email.partition("@")[0] or "Somebody"
        made = bool(bearer.email) and await accounts.insert_person(tx, user_id, bearer.email, called)
        if not made:
            await accounts.insert_person(tx, user_id, nobodys, called)
        if not await queries.insert(tx, issuer, bearer.subject, user_id):
            raise _Raced
        await accounts.audit(tx, "account.created", user_id=user_id, workspace_id=workspace_id, subject=bearer.subject)
