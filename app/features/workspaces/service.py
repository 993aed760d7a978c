"""What pages may know of an invite before anybody is signed in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.features.workspaces import queries
from app.features.workspaces.errors import InviteNotFound
from app.kit.secrets import Token

if TYPE_CHECKING:
    from app.store.postgres import Database


async def peek_invite(database: Database, token: str) -> dict[str, Any]:
    """Tell what an open invite is for, without using it.

    Raises:
        InviteNotFound: it is not open.
    """
    row = await queries.peek_invite(database, Token(token).digest())
    if row is None:
        raise InviteNotFound
    return dict(row)
