"""What is told of an invite: to who invites, and to pages before anybody is signed in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.features.workspaces import queries
from app.features.workspaces.errors import InviteNotFound
from app.kit.secrets import Token

if TYPE_CHECKING:
    from app.store.postgres import Database


@dataclass(frozen=True, slots=True)
class Inviting:
    """How people come in here: who makes accounts (`SIGNUP`), and whether mails are sent."""

    signup: str
    mailed: bool

    @property
    def notice(self) -> str:
        """What an inviter is told. It is the same for every address: who has an account is nobody's to know."""
        said = "A mail with the link is sent."
        if not self.mailed:
            said = "No mail is sent from here, it is only written to `ctx admin outbox`: hand over the link yourself."
        if self.signup == "closed":
            said += (
                " Somebody without an account here needs one first: `ctx admin create-user --email …` on the server,"
                " or SIGNUP=invite."
            )
        return said


async def peek_invite(database: Database, token: str) -> dict[str, Any]:
    """Tell what an open invite is for, without using it.

    Raises:
        InviteNotFound: it is not open.
    """
    row = await queries.peek_invite(database, Token(token).digest())
    if row is None:
        raise InviteNotFound
    return dict(row)
