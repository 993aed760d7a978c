"""Rules of accounts that other parts may call."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from app.features.accounts import queries
from app.kit.errors import InvalidRequest
from app.kit.ids import new_id

if TYPE_CHECKING:
    from app.store.postgres import Database

_ADDRESS = re.compile(r"[^@\s\x00-\x1f]{1,64}@[^@\s\x00-\x1f]{1,255}")


async def create_user(database: Database, email: str) -> dict[str, Any]:
    """Create a user with a personal workspace; an address that is taken gives the user who has it.

    Raises:
        InvalidRequest: the text is no e-mail address.
    """
    if not _ADDRESS.fullmatch(email):
        msg = f"{email!r} is not an e-mail address."
        raise InvalidRequest(msg)
    row = await queries.insert_user(database, new_id(), email, email.partition("@")[0], new_id())
    created = row is not None
    row = row or await queries.get_user(database, email)
    assert row is not None
    return {"userId": str(row["user_id"]), "workspaceId": str(row["workspace_id"]), "email": email, "created": created}
