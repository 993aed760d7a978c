"""Resolves browser sessions for the gate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.features.signin import queries
from app.gate.policy import Scope
from app.gate.principal import CredentialKind
from app.kit.secrets import Token

if TYPE_CHECKING:
    from app.features.accounts.service import Principals
    from app.gate.principal import Principal
    from app.store.postgres import Database


class BrowserSessions:
    """The resolver of the session cookie; the session is its own grant, with all that the member's role allows."""

    def __init__(self, database: Database, principals: Principals) -> None:
        self._database = database
        self._principals = principals

    async def __call__(self, credential: str, resource: str) -> Principal | None:  # noqa: ARG002  our own pages only
        """Return the session's principal; None when it is unknown, ended, idle too long or too old."""
        row = await queries.get_session(self._database, Token(credential).digest())
        if row is None:
            return None
        session_id = row["session_id"]
        return self._principals.build(row, CredentialKind.SESSION, session_id, frozenset(Scope), session_id)
